import { type Kysely, sql } from 'kysely'

/** Claiming moves deliveries to another queue row, so a deletion repeats until no row lists them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(FORGET_ATTEMPTS).execute(db)
}

// The queue before the log: writing an attempt locks the delivery's queue row, so the attempt either exists by now and
// is deleted too, or is never written. If a row is moved or split while this waits for it, only the next statement sees
// the result. A committed state has each delivery in at most one row, so a query that does not wait shows when there is
// none. All code locks these rows in the same order, except rows that were moved during a wait: there PostgreSQL aborts
// one of two deadlocked transactions, which retries.
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
