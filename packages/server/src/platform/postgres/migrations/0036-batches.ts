import { type Kysely, sql } from 'kysely'

/** Forms a batch in one round trip: a reader may be waiting for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // The lock (any number, the same in every process) lets the next process see only the rows left over. Each statement
  // of a volatile function has a snapshot of its own, so the second one sees what the lock waited for.
  `CREATE FUNCTION form_batch(new_batch_id uuid, rows_max integer, bytes_max bigint, OUT is_full boolean, OUT open_batches uuid[])
  LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(815001);
    WITH waiting AS (
      SELECT journal_id, octet_length(rows) AS bytes FROM journal WHERE batch_id IS NULL ORDER BY journal_id LIMIT rows_max
    ), sized AS (
      SELECT journal_id, bytes, sum(bytes) OVER (ORDER BY journal_id) - bytes AS bytes_before FROM waiting
    ), formed AS (
      UPDATE journal SET batch_id = new_batch_id FROM sized
      WHERE journal.journal_id = sized.journal_id AND bytes_before < bytes_max
      RETURNING bytes
    )
    SELECT count(*) = rows_max OR coalesce(sum(bytes), 0) >= bytes_max INTO is_full FROM formed;
    SELECT coalesce(array_agg(DISTINCT batch_id ORDER BY batch_id), '{}') INTO open_batches
      FROM journal WHERE batch_id IS NOT NULL;
  END $$`,
]
