-- Headers and secrets are ciphertexts. A rotation keeps the previous secret until previous_until; from switch_at on,
-- X-Service-Signature uses the new one.
CREATE TABLE webhook_subscriptions (
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
);
CREATE TRIGGER webhook_subscriptions_changed AFTER INSERT OR UPDATE OR DELETE ON webhook_subscriptions
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change();

-- A row is inserted in the transaction that records its event, often by the collector. Like visitors, it has no foreign
-- key to its subscription: the check would cost more than the row and could make an event fail. `record` is the event
-- until the first attempt, which turns it into the `payload` that every attempt sends. A delivery's state derives from
-- the queue and the attempts; its own row is written when it is added, when its payload is built, and when it is
-- re-sent.
CREATE TABLE webhook_deliveries (
  tenant_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event text NOT NULL,
  record text,
  payload text,
  is_test boolean NOT NULL DEFAULT false,
  attempts_before integer NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, delivery_id)
) WITH (fillfactor = 60);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (tenant_id, subscription_id, created_at, delivery_id);

-- The attempts of a delivery. `is_last`: no other one follows, because it succeeded or was the sixth, unless the
-- delivery is re-sent. No foreign key: it would look up and lock the delivery's row once more for each attempt.
CREATE TABLE webhook_attempts (
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
  is_last boolean NOT NULL,
  PRIMARY KEY (tenant_id, delivery_id, attempt)
);
CREATE INDEX webhook_attempts_newest ON webhook_attempts (tenant_id, subscription_id, at);
CREATE INDEX webhook_attempts_given_up ON webhook_attempts (tenant_id, subscription_id, at, delivery_id, attempt)
  WHERE is_last AND error IS NOT NULL;

-- The queue. A row is a batch: deliveries of one subscription that are due together and whose next attempt has the same
-- number. Its due_at is when a worker may claim it: when they are due, or when the current worker's lease ends, which
-- is_leased tells apart. Attempted deliveries leave the batch.
CREATE TABLE webhook_queue (
  tenant_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  due_at timestamptz NOT NULL,
  batch_id uuid NOT NULL,
  attempt integer NOT NULL,
  delivery_ids uuid[] NOT NULL,
  is_leased boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, subscription_id, due_at, batch_id)
);

CREATE FUNCTION queue_webhook_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_queue
    SELECT tenant_id, subscription_id, min(due_at), gen_random_uuid(), 1,
      array_agg(delivery_id ORDER BY delivery_id)
    FROM (SELECT *, (row_number() OVER (PARTITION BY tenant_id, subscription_id ORDER BY delivery_id) - 1) / 64
      AS batch FROM added) AS numbered
    GROUP BY tenant_id, subscription_id, batch;
  PERFORM pg_notify('cds_webhook_work', '');
  RETURN NULL;
END $$;

CREATE FUNCTION queue_webhook_delivery_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE webhook_attempts SET is_last = false
    WHERE tenant_id = NEW.tenant_id AND delivery_id = NEW.delivery_id AND is_last;
  INSERT INTO webhook_queue VALUES (NEW.tenant_id, NEW.subscription_id, NEW.due_at, gen_random_uuid(),
    NEW.attempts_before + 1, ARRAY[NEW.delivery_id]);
  PERFORM pg_notify('cds_webhook_work', '');
  RETURN NULL;
END $$;

CREATE FUNCTION forget_webhook_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

CREATE FUNCTION forget_webhook_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM webhook_deliveries WHERE tenant_id = OLD.tenant_id AND subscription_id = OLD.subscription_id;
  DELETE FROM webhook_queue WHERE tenant_id = OLD.tenant_id AND subscription_id = OLD.subscription_id;
  RETURN OLD;
END $$;

CREATE FUNCTION announce_webhook_work() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('cds_webhook_work', '');
  RETURN NULL;
END $$;

CREATE TRIGGER webhook_deliveries_added AFTER INSERT ON webhook_deliveries
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION queue_webhook_deliveries();

CREATE TRIGGER webhook_deliveries_sent_again AFTER UPDATE OF attempts_before ON webhook_deliveries
  FOR EACH ROW EXECUTE FUNCTION queue_webhook_delivery_again();

CREATE TRIGGER webhook_deliveries_forgotten AFTER DELETE ON webhook_deliveries
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_webhook_attempts();

CREATE TRIGGER webhook_subscriptions_resumed AFTER UPDATE OF paused_at ON webhook_subscriptions
  FOR EACH STATEMENT EXECUTE FUNCTION announce_webhook_work();

CREATE TRIGGER webhook_subscriptions_deleted AFTER DELETE ON webhook_subscriptions
  FOR EACH ROW EXECUTE FUNCTION forget_webhook_deliveries();
