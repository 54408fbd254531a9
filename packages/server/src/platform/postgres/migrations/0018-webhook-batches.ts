import { type Kysely, sql } from 'kysely'

/** One row of the queue for many deliveries, and one line of the log for each: the rest follows from these two. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

/** Deliveries of one statement and one subscription that share a row of the queue, at the most. */
const BATCH = 64

const STATEMENTS = [
  // All attempts are written anew, however many there are.
  'SET LOCAL statement_timeout = 0',
  // What health and the lists ask of a delivery is told by its attempts alone. `is_last`: no other one follows, because
  // it succeeded or because it was the sixth, unless somebody sends the delivery again.
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

  // A row stands for deliveries of one subscription that are due together and whose next attempt has the same number.
  // Its due_at is when a worker may take it: when they are due, or when the lease of the worker that has it ends. What
  // is attempted leaves its list.
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

  // A delivery's row is written when its event is recorded, when its payload is made, and when it is sent again.
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
  // Only sending again writes attempts_before.
  `CREATE OR REPLACE FUNCTION queue_webhook_delivery_again() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE webhook_attempts SET is_last = false
        WHERE tenant_id = NEW.tenant_id AND delivery_id = NEW.delivery_id AND is_last;
      INSERT INTO webhook_queue VALUES (NEW.tenant_id, NEW.subscription_id, NEW.due_at, gen_random_uuid(),
        NEW.attempts_before + 1, ARRAY[NEW.delivery_id]);
      PERFORM pg_notify('cds_webhook_work', '');
      RETURN NULL;
    END $$`,

  // The queue before the log: who writes an attempt down has locked the delivery's row of the queue, so that either the
  // attempt is there by now and goes too, or it is not written any more. A row that was divided while it was waited for
  // shows its new part to the next round only, so the last one must find nothing without having waited: there are
  // two of them. All who wait for such rows lock them in one order.
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
  // Deliveries before the queue, as whoever deletes deliveries does.
  `CREATE OR REPLACE FUNCTION forget_webhook_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM webhook_deliveries WHERE tenant_id = OLD.tenant_id AND subscription_id = OLD.subscription_id;
      DELETE FROM webhook_queue WHERE tenant_id = OLD.tenant_id AND subscription_id = OLD.subscription_id;
      RETURN OLD;
    END $$`,
]
