import { type Kysely, sql } from 'kysely'

/** Webhook subscriptions, their deliveries and attempts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Headers and secrets are ciphertexts. A rotation keeps the previous secret until previous_until; from switch_at on,
  // X-Service-Signature uses the new one.
  `CREATE TABLE webhook_subscriptions (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    subscription_id uuid NOT NULL,
    event text NOT NULL,
    url text NOT NULL,
    url_filter jsonb,
    header_names text[] NOT NULL,
    headers_sealed text,
    secret_sealed text NOT NULL,
    previous_secret_sealed text,
    previous_until timestamptz,
    switch_at timestamptz,
    paused_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, subscription_id)
  )`,
  `CREATE TRIGGER webhook_subscriptions_changed AFTER INSERT OR UPDATE OR DELETE ON webhook_subscriptions
    FOR EACH STATEMENT EXECUTE FUNCTION announce_change()`,

  // A row is inserted in the transaction that records its event, often by the collector. Like visitors, it has no
  // foreign key to its subscription: the check would cost more than the row and could make an event fail. \`record\` is
  // the event until the first attempt, which turns it into the \`payload\` that every attempt sends. \`due_at\` is when
  // a worker may claim the row: the time of the next attempt, or the end of the current worker's lease.
  `CREATE TABLE webhook_deliveries (
    tenant_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    subscription_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event text NOT NULL,
    record text,
    payload text,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'succeeded', 'failed')),
    is_test boolean NOT NULL DEFAULT false,
    attempt_count integer NOT NULL DEFAULT 0,
    attempts_before integer NOT NULL DEFAULT 0,
    due_at timestamptz,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (tenant_id, delivery_id),
    CHECK ((status = 'pending') = (due_at IS NOT NULL))
  )`,
  `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (tenant_id, subscription_id, due_at, delivery_id)
    WHERE status = 'pending'`,
  `CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (tenant_id, subscription_id, created_at, delivery_id)`,
  `CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (tenant_id, subscription_id, created_at)
    WHERE status = 'failed'`,
  'CREATE INDEX webhook_deliveries_finished ON webhook_deliveries (finished_at) WHERE finished_at IS NOT NULL',

  // Written in the statement that changes its delivery, and deleted with it by a trigger: a foreign key would look up
  // and lock that row once more for each.
  `CREATE TABLE webhook_attempts (
    tenant_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    attempt integer NOT NULL,
    at timestamptz NOT NULL,
    latency_ms integer NOT NULL,
    status_code integer,
    body text,
    error text,
    address text,
    PRIMARY KEY (tenant_id, delivery_id, attempt)
  )`,
  `CREATE FUNCTION forget_webhook_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM webhook_attempts AS attempt USING gone
        WHERE attempt.tenant_id = gone.tenant_id AND attempt.delivery_id = gone.delivery_id;
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER webhook_deliveries_forgotten AFTER DELETE ON webhook_deliveries
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_webhook_attempts()`,

  `CREATE FUNCTION announce_webhook_work() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('cds_webhook_work', '');
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER webhook_deliveries_added AFTER INSERT ON webhook_deliveries
    FOR EACH STATEMENT EXECUTE FUNCTION announce_webhook_work()`,
  // Wakes workers when deliveries are re-sent or their subscription resumes.
  `CREATE TRIGGER webhook_subscriptions_resumed AFTER UPDATE OF paused_at ON webhook_subscriptions
    FOR EACH STATEMENT EXECUTE FUNCTION announce_webhook_work()`,

  `CREATE FUNCTION forget_webhook_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM webhook_deliveries WHERE tenant_id = OLD.tenant_id AND subscription_id = OLD.subscription_id;
      RETURN OLD;
    END $$`,
  `CREATE TRIGGER webhook_subscriptions_deleted AFTER DELETE ON webhook_subscriptions
    FOR EACH ROW EXECUTE FUNCTION forget_webhook_deliveries()`,
]
