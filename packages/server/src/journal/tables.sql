-- Accepted events that are not yet in ClickHouse. A row has the events of many requests and tenants, in exactly the
-- bytes to send to ClickHouse. Rows with the same batch_id are inserted together. `sequence` numbers the batches in the
-- order in which they are formed; ClickHouse stores it with each row, and a split batch keeps it.
CREATE SEQUENCE journal_sequence;
CREATE TABLE journal (
  journal_id uuid PRIMARY KEY,
  table_name text NOT NULL DEFAULT 'events',
  created_at timestamptz NOT NULL DEFAULT now(),
  tenant_ids uuid[] NOT NULL,
  row_count integer NOT NULL,
  rows text NOT NULL,
  batch_id uuid,
  sequence bigint,
  -- Its events are inserted one by one. Committed before the first of them is: from then on, finding an event of the row
  -- in ClickHouse does not prove that it has the others.
  is_divided boolean NOT NULL DEFAULT false
);
CREATE INDEX journal_by_batch ON journal (batch_id, journal_id);
-- Compressing them would cost more CPU than writing them costs disk.
ALTER TABLE journal ALTER COLUMN rows SET STORAGE EXTERNAL;

-- Forms a batch in one round trip: a reader may be waiting for it. The lock lets the next process see only the rows
-- left over. Each statement of a volatile function has a snapshot of its own, so the second one sees what the lock
-- waited for.
CREATE FUNCTION form_batch(journal_lock bigint, new_batch_id uuid, rows_max integer, bytes_max bigint,
  OUT is_full boolean, OUT open_batches uuid[])
LANGUAGE plpgsql VOLATILE AS $$
  DECLARE
    next_sequence bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(journal_lock);
    -- Within the lock, which lasts until the commit: whoever gets it later sees every batch with a lower number.
    next_sequence := nextval('journal_sequence');
    WITH waiting AS (
      SELECT journal_id, octet_length(rows) AS bytes FROM journal WHERE batch_id IS NULL ORDER BY journal_id LIMIT rows_max
    ), sized AS (
      SELECT journal_id, bytes, sum(bytes) OVER (ORDER BY journal_id) - bytes AS bytes_before FROM waiting
    ), formed AS (
      UPDATE journal SET batch_id = new_batch_id, sequence = next_sequence FROM sized
      WHERE journal.journal_id = sized.journal_id AND bytes_before < bytes_max
      RETURNING bytes
    )
    SELECT count(*) = rows_max OR coalesce(sum(bytes), 0) >= bytes_max INTO is_full FROM formed;
    SELECT coalesce(array_agg(DISTINCT batch_id ORDER BY batch_id), '{}') INTO open_batches
      FROM journal WHERE batch_id IS NOT NULL;
  END $$;

-- The last number that a batch got. All batches up to it are committed; later ones get higher numbers.
CREATE FUNCTION journal_cut(journal_lock bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(journal_lock);
    RETURN (SELECT last_value FROM journal_sequence);
  END $$;

-- Events that ClickHouse never accepts, set aside so that they do not block others.
CREATE TABLE refused_events (
  journal_id uuid NOT NULL,
  line integer NOT NULL,
  table_name text NOT NULL,
  row text NOT NULL,
  error text NOT NULL,
  refused_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (journal_id, line)
);

-- The event ids that senders chose, so that a repeated batch is recorded once. `key` is the event's id, or a hash of
-- sender and id: see sent-ids.ts. Three tables rotate daily: today's is written, yesterday's read, tomorrow's emptied,
-- so expiry is a TRUNCATE instead of a vacuum.
CREATE TABLE event_ids_0 (
  tenant_id uuid NOT NULL,
  key uuid NOT NULL,
  sender uuid NOT NULL,
  PRIMARY KEY (tenant_id, key)
);
CREATE TABLE event_ids_1 (
  tenant_id uuid NOT NULL,
  key uuid NOT NULL,
  sender uuid NOT NULL,
  PRIMARY KEY (tenant_id, key)
);
CREATE TABLE event_ids_2 (
  tenant_id uuid NOT NULL,
  key uuid NOT NULL,
  sender uuid NOT NULL,
  PRIMARY KEY (tenant_id, key)
);
-- The day of each of them, in days since 1970. It only increases, so that a clock that is behind empties nothing.
CREATE TABLE event_id_days (
  turn smallint PRIMARY KEY CHECK (turn BETWEEN 0 AND 2),
  day integer NOT NULL
);
