import { type Kysely, sql } from 'kysely'

/**
 * Taking deliveries moves them to another row of the queue: who deletes deliveries looks for them until they are in none.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(FORGET_ATTEMPTS).execute(db)
}

// The queue before the log: who writes an attempt down has locked the delivery's row of the queue, so that either the
// attempt is there by now and goes too, or it is not written any more. A row that is moved or divided while it is waited
// for shows what became of it to the next statement only; what is committed at any moment has each delivery in one row
// at the most, so a look that waits for nobody tells when there is none. All who wait for such rows lock them in one order,
// but for those that were moved while others were waited for: PostgreSQL ends one of two who meet there, and it tries again.
const FORGET_ATTEMPTS = `CREATE OR REPLACE FUNCTION forget_webhook_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      WHILE EXISTS (SELECT FROM webhook_queue JOIN (SELECT DISTINCT tenant_id, subscription_id FROM gone) AS theirs
          USING (tenant_id, subscription_id)
        WHERE EXISTS (SELECT FROM unnest(delivery_ids) AS each WHERE (each IN (SELECT delivery_id FROM gone)) IS TRUE)
      ) LOOP
        PERFORM FROM webhook_queue AS queued JOIN (SELECT DISTINCT tenant_id, subscription_id FROM gone) AS theirs
            USING (tenant_id, subscription_id)
          WHERE EXISTS (SELECT FROM unnest(delivery_ids) AS each WHERE (each IN (SELECT delivery_id FROM gone)) IS TRUE)
          ORDER BY batch_id FOR UPDATE OF queued;
        UPDATE webhook_queue AS queued
          SET delivery_ids = ARRAY(SELECT each FROM unnest(queued.delivery_ids) AS each
            WHERE (each IN (SELECT delivery_id FROM gone)) IS NOT TRUE)
          FROM (SELECT DISTINCT tenant_id, subscription_id FROM gone) AS theirs
          WHERE queued.tenant_id = theirs.tenant_id AND queued.subscription_id = theirs.subscription_id
            AND EXISTS (SELECT FROM unnest(queued.delivery_ids) AS each
              WHERE (each IN (SELECT delivery_id FROM gone)) IS TRUE);
      END LOOP;
      DELETE FROM webhook_queue AS queued USING (SELECT DISTINCT tenant_id, subscription_id FROM gone) AS theirs
        WHERE queued.tenant_id = theirs.tenant_id AND queued.subscription_id = theirs.subscription_id
          AND queued.delivery_ids = '{}';
      DELETE FROM webhook_attempts AS attempt USING gone
        WHERE attempt.tenant_id = gone.tenant_id AND attempt.delivery_id = gone.delivery_id;
      RETURN NULL;
    END $$`
