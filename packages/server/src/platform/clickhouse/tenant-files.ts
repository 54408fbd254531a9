import { linksWhere } from './owner-links.ts'
import type { QueryParameters } from './parameters.ts'
import { sentRows } from './parquet.ts'

/** The maximum size of a file, which is in memory as a whole. Callers limit the rows, so files stay well below. */
export const FILE_BYTES_MAX = 256 * 1024 * 1024
export const FILE_SECONDS_MAX = 20

/** The rows of a file. Columns are expressions with their names. */
export type TenantFile = { name: string; columns: string } & (
  | {
      /** Rows that the service sends: the names and types of their fields, and a JSON object per line. */
      from: 'rows'
      structure: string
      rows: string
    }
  | {
      /**
       * A part of the events, or of the links between owners and contacts, by their `sequence`. The columns of events may
       * use `CONTACT_OF_OWNER`.
       */
      from: 'events' | 'owner_links'
      after: number
      upTo: number
      /** The index and number of similar-sized parts. Rows without numbers are divided by their ids. */
      share: { index: number; of: number }
    }
)

const PART = `tenant_id = {tenant_id: UUID} AND sequence > {after: Int64} AND sequence <= {up_to: Int64}`
const ID = { events: 'event_id', owner_links: 'owner_id' }

export interface SizeRange {
  from: 'events' | 'owner_links'
  after: number
  upTo: number
  limit: number
}

/** The number of rows per number, and their approximate size as text. */
export interface SequenceSize {
  sequence: number
  rows: number
  bytes: number
}

const BYTES = {
  events: `sum(400 + length(url) + length(referrer) + length(title) + length(text) + length(class) + length(user_agent)
    + length(data))`,
  owner_links: 'count() * 80',
}

/** The texts of rows beyond the limit are not read, however wide the range is. */
export function renderSizes({ from, after, upTo, limit }: SizeRange): { sql: string; parameters: QueryParameters } {
  const first = `SELECT DISTINCT sequence FROM ${from} WHERE ${PART} ORDER BY sequence LIMIT ${Math.trunc(limit)}`
  const sql = `/* files.sizes */ SELECT sequence, count() AS rows, ${BYTES[from]} AS bytes FROM ${from}
    WHERE ${PART} AND sequence <= (SELECT max(sequence) FROM (${first})) GROUP BY sequence ORDER BY sequence`
  return { sql, parameters: { after, up_to: upTo } }
}

/** The statement of a file, restricted to the tenant. */
export function renderFile(file: TenantFile): { sql: string; parameters: QueryParameters } {
  const { name, columns } = file
  if (file.from === 'rows') {
    // The tenant id has no effect here, but every statement of a tenant must contain it.
    const sql = `/* ${name} */ SELECT ${columns} FROM ${sentRows(file.structure)} WHERE {tenant_id: UUID} IS NOT NULL`
    return { sql, parameters: { rows: file.rows } }
  }
  const { from, after, upTo, share } = file
  const part = share.of === 1 ? PART : `${PART} AND cityHash64(${ID[from]}) % ${share.of} = ${share.index}`
  const parameters = { after, up_to: upTo }
  if (from === 'owner_links') {
    const latest = linksWhere(part, ', max(owner_links.version) AS newest')
    return { sql: `/* ${name} */ SELECT ${columns} FROM (${latest}) ORDER BY owner_id`, parameters }
  }
  const owners = `SELECT owner_id FROM events WHERE ${part}`
  const links = linksWhere(`tenant_id = {tenant_id: UUID} AND owner_id GLOBAL IN (${owners})`)
  const sql = `/* ${name} */ SELECT ${columns} FROM (SELECT * FROM events WHERE ${part}) AS found
    LEFT JOIN (${links}) AS links ON links.owner_id = found.owner_id
    ORDER BY found.timestamp, toUInt128(found.event_id)`
  return { sql, parameters }
}
