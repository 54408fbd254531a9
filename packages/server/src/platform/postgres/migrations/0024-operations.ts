import { type Kysely, sql } from 'kysely'

/** Operational state: the ClickHouse of this database, and the events that it rejected. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // ClickHouse stores the installation's id too, embedded or not, so that the service can check that they belong
  // together.
  'DROP TABLE installation',
  `CREATE TABLE installation (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    installation_id uuid NOT NULL
  )`,

  // The day of each event_ids table, in days since 1970. It only increases, so that a clock that is behind empties
  // nothing.
  `CREATE TABLE event_id_days (
    turn smallint PRIMARY KEY CHECK (turn BETWEEN 0 AND 2),
    day integer NOT NULL
  )`,
]
