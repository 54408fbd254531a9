import type { Pool } from 'pg'

/** A column of a table that has ids of contacts. */
interface ContactColumn {
  table: string
  column: string
  isList: boolean
}

/** Every column with ids of contacts, of all tables but `contacts`. */
export async function contactColumns(pool: Pool): Promise<ContactColumn[]> {
  const { rows } = await pool.query<ContactColumn>(`
    SELECT table_name AS table, column_name AS column, data_type = 'ARRAY' AS "isList" FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name ~ '(^|_)contact_ids?$' AND udt_name ~ '^_?uuid$' AND table_name <> 'contacts'
    ORDER BY table_name, ordinal_position`)
  return rows
}

/** What a column must have where its type does not say it: a CHECK allows some values, and with others a worker would take the row. */
const VALUES: Readonly<Record<string, string>> = {
  'agent_actions.status': "'executed'",
  'agent_runs.status': "'completed'",
  'agent_runs.trigger': "'manual'",
  'connection_activities.external_id': "'1'",
  'connection_activities.kind': "'note'",
  'enrichment_answers.outcome': "'nothing'",
  'enrichment_queue.due_at': "now() + interval '1 day'",
  'hook_bodies.state': "'recorded'",
  'mail_sends.status': "'sent'",
  'segment_checks.not_before': "now() + interval '1 day'",
}

/**
 * Inserts a row of a contact into a table, with any values in its other columns. Rows of other tables that it refers to need not
 * exist.
 */
export async function insertRowOf(pool: Pool, tenantId: string, contactId: string, table: string): Promise<void> {
  const { rows: columns } = await pool.query<{ name: string; type: string; isNeeded: boolean }>(
    `SELECT column_name AS name, udt_name AS type, is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO' AS "isNeeded"
      FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER'`,
    [table],
  )
  const fixedValue = (name: string) => VALUES[`${table}.${name}`]
  const given = columns.filter(({ name, isNeeded }) => isNeeded || isOfContact(name) || fixedValue(name) !== undefined)
  const values = given.map(({ name, type }) => {
    if (name === 'tenant_id') return `'${tenantId}'`
    if (isOfContact(name) && type === '_uuid') return `ARRAY['${contactId}']::uuid[]`
    if (isOfContact(name) && type === 'uuid') return `'${contactId}'`
    return fixedValue(name) ?? anyOf(type)
  })
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await client.query('SET LOCAL session_replication_role = replica')
    await client.query(
      `INSERT INTO ${table} (${given.map(({ name }) => name).join(', ')}) VALUES (${values.join(', ')})`,
    )
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    const message = `No row could be inserted into ${table}. If a CHECK refuses it, add a value to test/rows-of-contact.ts.`
    throw new Error(message, { cause: error })
  } finally {
    client.release()
  }
}

function isOfContact(column: string): boolean {
  return /(^|_)contact_ids?$/.test(column)
}

/** A value of a type that no other row has, where the type has many. */
function anyOf(type: string): string {
  if (type === 'uuid') return 'uuidv7()'
  if (type === 'timestamptz') return 'now()'
  if (type === 'date') return 'current_date'
  if (type === 'bool') return 'false'
  if (/^(int|float|numeric)/.test(type)) return '1'
  if (type === 'json' || type === 'jsonb') return "'{}'"
  if (type === 'bytea') return "'\\x00'"
  if (type.startsWith('_')) return "'{}'"
  return 'uuidv7()::text'
}

/** How many rows of each table have an id of a contact, by table and column. */
export async function countRowsOf(pool: Pool, tenantId: string, contactId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { table, column, isList } of await contactColumns(pool)) {
    const is = isList ? `$2 = ANY(${column})` : `${column} = $2`
    const { rows } = await pool.query<{ count: string }>(
      `SELECT count(*) FROM ${table} WHERE tenant_id = $1 AND ${is}`,
      [tenantId, contactId],
    )
    counts[`${table}.${column}`] = Number(rows[0]?.count)
  }
  return counts
}
