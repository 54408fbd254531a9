-- Headers, secrets and `url_sealed` are ciphertexts. A URL for chat messages is a secret: `url` has only its beginning, and
-- `url_sealed` the whole; it is null for the format `json`. A rotation keeps the previous secret until previous_until; from switch_at on,
-- X-Service-Signature uses the new one. `format` never changes. `only_segment_id`: of the segments that contacts enter and leave, only this one;
-- once it is deleted, nothing more is delivered.
CREATE TABLE webhook_subscriptions (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  subscription_id uuid NOT NULL,
  event text NOT NULL,
  url text NOT NULL,
  url_sealed text CHECK ((url_sealed IS NULL) = (format = 'json')),
  format text NOT NULL DEFAULT 'json' CHECK (format IN ('json', 'slack')),
  template text,
  url_filter jsonb,
  -- Conditions on the event, of which all must be true.
  conditions jsonb,
  only_segment_id uuid,
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

-- A row is inserted in the transaction that records its event, often by the collector. Like visitors, it has no foreign
-- key to its subscription: the check would cost more than the row and could make an event fail. `record` is the event
-- until the first attempt, which turns it into the `payload` that every attempt sends. A delivery's state derives from
-- the queue and the attempts; its own row is written when it is added, when its payload is built, and when it is
-- re-sent. `contact_id`: the contact that a message for Slack is about, because its text need not contain the id.
CREATE TABLE webhook_deliveries (
  tenant_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event text NOT NULL,
  record text,
  payload text,
  contact_id uuid,
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
-- is_claimed tells apart. Attempted deliveries leave the batch.
CREATE TABLE webhook_queue (
  tenant_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  due_at timestamptz NOT NULL,
  batch_id uuid NOT NULL,
  attempt integer NOT NULL,
  delivery_ids uuid[] NOT NULL,
  is_claimed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, subscription_id, due_at, batch_id)
);
