import { type Kysely, sql } from 'kysely'

/** What the service knows of its own running: which ClickHouse is its own, and which events that one did not take. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // ClickHouse keeps the id of the installation too, embedded or not: so each knows that the other is its own.
  'DROP TABLE installation',
  `CREATE TABLE installation (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    installation_id uuid NOT NULL
  )`,

  // The day that each of the event_ids tables is for, as a number of days since 1970. It only grows, so that a clock
  // that is behind empties nothing.
  `CREATE TABLE event_id_days (
    turn smallint PRIMARY KEY CHECK (turn BETWEEN 0 AND 2),
    day integer NOT NULL
  )`,
]
