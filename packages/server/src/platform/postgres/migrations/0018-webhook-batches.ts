import { type Kysely, sql } from 'kysely'

/** One queue row for many deliveries, and one log line for each; all state derives from these two. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

/** The most deliveries of one statement and one subscription that share a queue row. */
const BATCH = 64

const STATEMENTS = [
  // Rewrites all attempts.
  'SET LOCAL statement_timeout = 0',
  // Health and lists derive a delivery's state from its attempts alone. `is_last`: no other one follows, because it
  // succeeded or was the sixth, unless the delivery is re-sent.
  'ALTER TABLE webhook_attempts RENAME TO webhook_attempts_of_deliveries',
  'ALTER INDEX webhook_attempts_pkey RENAME TO webhook_attempts_of_deliveries_pkey',
  `CREATE TABLE webhook_attempts (
    tenant_id uuid NOT NULL,
    subscription_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    attempt integer NOT NULL,
    at timestamptz NOT NULL,
    latency_ms integer NOT NULL,
    status_code integer,
    body text,
    error text,
    address text,
    is_last boolean NOT NULL
  )`,
  `INSERT INTO webhook_attempts SELECT tenant_id, subscription_id, delivery_id, attempt, at, latency_ms, status_code, body,
      error, address, attempt = attempt_count AND status <> 'pending'
    FROM webhook_attempts_of_deliveries JOIN webhook_deliveries USING (tenant_id, delivery_id)`,
  'DROP TABLE webhook_attempts_of_deliveries',
  'ALTER TABLE webhook_attempts ADD PRIMARY KEY (tenant_id, delivery_id, attempt)',
  'CREATE INDEX webhook_attempts_newest ON webhook_attempts (tenant_id, subscription_id, at)',
  `CREATE INDEX webhook_attempts_given_up ON webhook_attempts (tenant_id, subscription_id, at, delivery_id, attempt)
    WHERE is_last AND error IS NOT NULL`,

  // A row lists deliveries of one subscription that are due together and whose next attempt has the same number. Its
  // due_at is when a worker may claim it: when they are due, or when the current worker's lease ends. Attempted
  // deliveries leave the list.
  'ALTER TABLE webhook_queue RENAME TO webhook_queue_of_one',
  'ALTER INDEX webhook_queue_pkey RENAME TO webhook_queue_of_one_pkey',
  `CREATE TABLE webhook_queue (
    tenant_id uuid NOT NULL,
    subscription_id uuid NOT NULL,
    due_at timestamptz NOT NULL,
    batch_id uuid NOT NULL,
    attempt integer NOT NULL,
    delivery_ids uuid[] NOT NULL,
    PRIMARY KEY (tenant_id, subscription_id, due_at, batch_id)
  )`,
  `INSERT INTO webhook_queue SELECT tenant_id, queued.subscription_id, queued.due_at, gen_random_uuid(),
      attempt_count + 1, ARRAY[delivery_id]
    FROM webhook_queue_of_one AS queued JOIN webhook_deliveries USING (tenant_id, delivery_id)`,
  'DROP TABLE webhook_queue_of_one',

  // A delivery's row is written when its event is recorded, when its payload is created, and when it is re-sent.
  'DROP INDEX webhook_deliveries_failed, webhook_deliveries_finished',
  `ALTER TABLE webhook_deliveries DROP COLUMN is_failed, DROP COLUMN status, DROP COLUMN attempt_count,
    DROP COLUMN finished_at`,
  'UPDATE webhook_deliveries SET due_at = created_at WHERE due_at IS NULL',
  'ALTER TABLE webhook_deliveries ALTER COLUMN due_at SET NOT NULL',

  `CREATE OR REPLACE FUNCTION queue_webhook_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO webhook_queue
        SELECT tenant_id, subscription_id, min(due_at), gen_random_uuid(), 1,
          array_agg(delivery_id ORDER BY delivery_id)
        FROM (SELECT *, (row_number() OVER (PARTITION BY tenant_id, subscription_id ORDER BY delivery_id) - 1) / ${BATCH}
          AS batch FROM added) AS numbered
        GROUP BY tenant_id, subscription_id, batch;
      PERFORM pg_notify('cds_webhook_work', '');
      RETURN NULL;
    END $$`,
  // Only a re-send writes attempts_before.
  `CREATE OR REPLACE FUNCTION queue_webhook_delivery_again() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE webhook_attempts SET is_last = false
        WHERE tenant_id = NEW.tenant_id AND delivery_id = NEW.delivery_id AND is_last;
      INSERT INTO webhook_queue VALUES (NEW.tenant_id, NEW.subscription_id, NEW.due_at, gen_random_uuid(),
        NEW.attempts_before + 1, ARRAY[NEW.delivery_id]);
      PERFORM pg_notify('cds_webhook_work', '');
      RETURN NULL;
    END $$`,

  // The queue before the log: writing an attempt locks the delivery's queue row, so the attempt either exists by now
  // and is deleted too, or is never written. If a row is split while this waits for it, only the next round sees the
  // new part, so the last round must find nothing without waiting: there are two rounds. All code locks these rows in
  // the same order.
  `CREATE OR REPLACE FUNCTION forget_webhook_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      clean integer := 0;
    BEGIN
      WHILE clean < 2 LOOP
        PERFORM FROM webhook_queue AS queued JOIN (SELECT DISTINCT tenant_id, subscription_id FROM gone) AS theirs
            USING (tenant_id, subscription_id)
          WHERE EXISTS (SELECT FROM unnest(delivery_ids) AS each WHERE (each IN (SELECT delivery_id FROM gone)) IS TRUE)
          ORDER BY batch_id FOR UPDATE OF queued;
        IF NOT FOUND THEN
          clean := clean + 1;
          CONTINUE;
        END IF;
        clean := 0;
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
    END $$`,
  // Deliveries before the queue, in the same order as deletions.
  `CREATE OR REPLACE FUNCTION forget_webhook_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM webhook_deliveries WHERE tenant_id = OLD.tenant_id AND subscription_id = OLD.subscription_id;
      DELETE FROM webhook_queue WHERE tenant_id = OLD.tenant_id AND subscription_id = OLD.subscription_id;
      RETURN OLD;
    END $$`,
]
