import { type Kysely, sql } from 'kysely'

/** A narrow queue beside the deliveries, so that claiming and finishing one does not rewrite its payload. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // One row for each pending delivery. Its due_at is when a worker may claim it: when it is due, or when the current
  // worker's lease ends. The delivery's own due_at is shown to its owner, and written with each attempt.
  `CREATE TABLE webhook_queue (
    tenant_id uuid NOT NULL,
    subscription_id uuid NOT NULL,
    due_at timestamptz NOT NULL,
    delivery_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, subscription_id, due_at, delivery_id)
  )`,
  `INSERT INTO webhook_queue SELECT tenant_id, subscription_id, due_at, delivery_id
    FROM webhook_deliveries WHERE status = 'pending'`,

  // A successful delivery changes no column of these indexes (a BRIN index does not count), and its new version fits on
  // its page: then PostgreSQL writes one row and no index entry.
  'DROP INDEX webhook_deliveries_due, webhook_deliveries_failed, webhook_deliveries_finished',
  'ALTER TABLE webhook_deliveries SET (fillfactor = 60)',
  `ALTER TABLE webhook_deliveries
    ADD COLUMN is_failed boolean NOT NULL GENERATED ALWAYS AS (status = 'failed') STORED`,
  `CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (tenant_id, subscription_id, created_at, delivery_id)
    WHERE is_failed`,
  'CREATE INDEX webhook_deliveries_finished ON webhook_deliveries USING brin (finished_at)',

  `CREATE FUNCTION queue_webhook_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO webhook_queue SELECT tenant_id, subscription_id, due_at, delivery_id
        FROM added WHERE status = 'pending';
      PERFORM pg_notify('cds_webhook_work', '');
      RETURN NULL;
    END $$`,
  'DROP TRIGGER webhook_deliveries_added ON webhook_deliveries',
  `CREATE TRIGGER webhook_deliveries_added AFTER INSERT ON webhook_deliveries
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION queue_webhook_deliveries()`,
  // Only a re-send writes attempts_before.
  `CREATE FUNCTION queue_webhook_delivery_again() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO webhook_queue VALUES (NEW.tenant_id, NEW.subscription_id, NEW.due_at, NEW.delivery_id);
      PERFORM pg_notify('cds_webhook_work', '');
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER webhook_deliveries_sent_again AFTER UPDATE OF attempts_before ON webhook_deliveries
    FOR EACH ROW EXECUTE FUNCTION queue_webhook_delivery_again()`,

  // The queue first: workers lock its rows before a delivery's, and another order could deadlock. A pending delivery
  // that is deleted alone leaves its row to the sweep of old deliveries.
  `CREATE OR REPLACE FUNCTION forget_webhook_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM webhook_queue WHERE tenant_id = OLD.tenant_id AND subscription_id = OLD.subscription_id;
      DELETE FROM webhook_deliveries WHERE tenant_id = OLD.tenant_id AND subscription_id = OLD.subscription_id;
      RETURN OLD;
    END $$`,
]
