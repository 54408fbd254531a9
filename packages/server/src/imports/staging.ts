import { type Kysely, sql } from 'kysely'
import { ServiceError } from '../platform/errors.ts'
import { recordset } from '../platform/postgres/recordset.ts'
import { type IncomingRecord, MalformedAddress, recordIn } from '../sources/incoming-record.ts'

/** A row of the file, or its error. */
export interface Row {
  /** 1 is the row below the header. */
  row: number
  record: IncomingRecord | ServiceError
  /** The total length of its cells. */
  characters: number
}

/** The part of a file that is staged, and later read, in one statement. */
export interface Part {
  firstRow: number
  lastRow: number
}

/** A file's rows in a temporary table, from which they can be read by contact. */
export interface Staging {
  /** @param contactIds the stored contact of each row, by its external id or email. */
  add(rows: readonly Row[], contactIds: readonly (string | null)[]): Promise<Part>
  /** Visits rows with the same email, external id or stored contact, with their lengths. */
  visitRepeats(visit: (rows: readonly number[], characters: readonly number[]) => void): Promise<void>
  part(part: Part): Promise<Row[]>
  rows(numbers: readonly number[]): Promise<Row[]>
}

/** Failed rows have an error. Those that failed for their address alone have properties too. */
interface StagedRow {
  row: number
  email: string | null
  external_id: string | null
  contact_id: string | null
  characters: number
  properties: IncomingRecord['properties'] | null
  company_domain: string | null
  error: string | null
}

interface Tables {
  import_rows: StagedRow
}

const COLUMN_TYPES = {
  row: 'integer',
  email: 'text',
  external_id: 'text',
  contact_id: 'uuid',
  characters: 'integer',
  properties: 'json',
  company_domain: 'text',
  error: 'text',
} as const satisfies Record<keyof StagedRow, string>
const COLUMNS = Object.keys(COLUMN_TYPES) as (keyof StagedRow)[]
const GROUPS_PER_FETCH = 10_000

/** Creates the table. @param scratch the connection that owns it. */
export async function openStaging(scratch: Kysely<object>): Promise<Staging> {
  const db = scratch as unknown as Kysely<Tables>
  const definitions = Object.entries(COLUMN_TYPES).map(([name, type]) => `${name} ${type}`)
  await sql.raw(`CREATE TEMPORARY TABLE import_rows (${definitions.join(', ')}, PRIMARY KEY (row))`).execute(db)
  const selected = db.selectFrom('import_rows').select(COLUMNS).orderBy('row')
  return {
    add: async (rows, contactIds) => {
      const staged = rows.map((row, index) => toStaged(row, contactIds[index] ?? null))
      await db
        .insertInto('import_rows')
        .columns(COLUMNS)
        .expression((eb) => eb.selectFrom(recordset(staged, 'staged', COLUMN_TYPES)).select(COLUMNS))
        .execute()
      return { firstRow: rows[0]?.row ?? 0, lastRow: rows.at(-1)?.row ?? 0 }
    },
    visitRepeats: (visit) => visitRepeats(db, visit),
    part: async ({ firstRow, lastRow }) => {
      const rows = await selected.where('row', '>=', firstRow).where('row', '<=', lastRow).execute()
      return rows.map(fromStaged)
    },
    rows: async (numbers) => {
      if (numbers.length === 0) return []
      const rows = await selected.where('row', '=', sql<number>`any(${numbers}::integer[])`).execute()
      return rows.map(fromStaged)
    },
  }
}

async function visitRepeats(db: Kysely<Tables>, visit: Parameters<Staging['visitRepeats']>[0]): Promise<void> {
  await sql`ANALYZE import_rows`.execute(db)
  await db.transaction().execute(async (tx) => {
    for (const key of ['email', 'external_id', 'contact_id'] as const) {
      await sql`DECLARE repeats NO SCROLL CURSOR FOR
        SELECT array_agg(row ORDER BY row) AS rows, array_agg(characters ORDER BY row) AS characters
        FROM import_rows WHERE ${sql.ref(key)} IS NOT NULL GROUP BY ${sql.ref(key)} HAVING count(*) > 1`.execute(tx)
      const fetch = sql<{ rows: number[]; characters: number[] }>`FETCH ${sql.lit(GROUPS_PER_FETCH)} FROM repeats`
      for (let more = true; more; ) {
        const { rows: groups } = await fetch.execute(tx)
        for (const { rows, characters } of groups) visit(rows, characters)
        more = groups.length === GROUPS_PER_FETCH
      }
      await sql`CLOSE repeats`.execute(tx)
    }
  })
}

function toStaged({ row, record, characters }: Row, contactId: string | null): StagedRow {
  const said = recordIn(record)
  return {
    row,
    email: said?.email ?? null,
    external_id: said?.externalId ?? null,
    contact_id: contactId,
    characters,
    properties: said?.properties ?? null,
    company_domain: said?.companyDomain ?? null,
    error: record instanceof ServiceError ? record.message : null,
  }
}

function fromStaged({ row, email, external_id, characters, properties, company_domain, error }: StagedRow): Row {
  const problem = error === null ? null : new ServiceError(400, 'validation_error', error)
  if (properties === null) return { row, record: problem ?? new ServiceError(400, 'validation_error', ''), characters }
  const said = { externalId: external_id, email, properties, at: null, companyDomain: company_domain }
  return { row, record: problem === null ? said : new MalformedAddress(problem, said), characters }
}
