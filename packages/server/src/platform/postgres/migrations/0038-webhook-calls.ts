import { type Kysely, sql } from 'kysely'

/** Webhook deliveries are queued, woken for and deleted by the code in webhooks/, not by triggers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'DROP TRIGGER webhook_deliveries_added ON webhook_deliveries',
  'DROP TRIGGER webhook_deliveries_sent_again ON webhook_deliveries',
  'DROP TRIGGER webhook_deliveries_forgotten ON webhook_deliveries',
  'DROP TRIGGER webhook_subscriptions_resumed ON webhook_subscriptions',
  'DROP TRIGGER webhook_subscriptions_deleted ON webhook_subscriptions',
  `DROP FUNCTION queue_webhook_deliveries(), queue_webhook_delivery_again(), forget_webhook_attempts(),
    announce_webhook_work(), forget_webhook_deliveries()`,
]
