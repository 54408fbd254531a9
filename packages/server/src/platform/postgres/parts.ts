/** What a statement creates. */
export interface SchemaObject {
  kind: 'table' | 'sequence' | 'function' | 'trigger' | 'extension'
  /** With its schema, if the statement names one: `contacts`, `pgboss.job`. */
  name: string
}

/** What a database has of a schema: a table, a column, an index … */
export interface Part {
  kind: string
  name: string
  /** The table that has it; null if it belongs to none. */
  of: string | null
  /** What this version relies on, in a form that does not depend on PostgreSQL's version. */
  details: string
}

/** The tables and what they have, functions and extensions of a database. It takes a few milliseconds. */
export const PARTS = `
  WITH here AS (
      SELECT oid, CASE nspname WHEN current_schema() THEN '' ELSE nspname || '.' END AS prefix
      FROM pg_namespace WHERE nspname IN (current_schema(), 'pgboss')),
    relation AS (
      SELECT pg_class.oid, relkind, relpersistence, relam, prefix || relname AS relname
      FROM pg_class JOIN here ON relnamespace = here.oid)
  SELECT CASE relkind WHEN 'S' THEN 'sequence' ELSE 'table' END AS kind, relname AS name, NULL AS of, relpersistence::text AS details
    FROM relation WHERE relkind IN ('r', 'p', 'S')
  UNION ALL SELECT 'column', relname || '.' || attname, relname, concat_ws(' ', format_type(atttypid, atttypmod),
      CASE WHEN attnotnull THEN 'NOT NULL' END, CASE WHEN attgenerated <> '' THEN 'GENERATED' WHEN atthasdef THEN 'DEFAULT' END)
    FROM relation JOIN pg_attribute ON attrelid = relation.oid
    WHERE relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
  UNION ALL SELECT 'index', relation.relname, owner.relname, concat_ws(' ', amname, indnatts,
      CASE WHEN indisunique THEN 'UNIQUE' END, CASE WHEN NOT indisvalid THEN 'invalid' END)
    FROM relation JOIN pg_index ON indexrelid = relation.oid JOIN relation AS owner ON owner.oid = indrelid
      JOIN pg_am ON pg_am.oid = relation.relam
  UNION ALL SELECT 'constraint', conname, relname, concat_ws(' ', contype, CASE WHEN NOT convalidated THEN 'invalid' END)
    FROM relation JOIN pg_constraint ON conrelid = relation.oid WHERE contype IN ('c', 'f', 'p', 'u', 'x')
  UNION ALL SELECT 'trigger', tgname, relname, concat_ws(' ', tgtype, tgenabled)
    FROM relation JOIN pg_trigger ON tgrelid = relation.oid WHERE NOT tgisinternal
  UNION ALL SELECT 'function', prefix || proname, NULL, concat_ws(' ', oidvectortypes(proargtypes), provolatile, md5(prosrc))
    FROM pg_proc JOIN here ON pronamespace = here.oid
    WHERE NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
  UNION ALL SELECT 'extension', extname, NULL, '' FROM pg_extension`

/** Those parts of a database that a schema created, and not somebody else. */
export function partsOf({ objects }: { objects: readonly SchemaObject[] }, found: readonly Part[]): Part[] {
  const created = new Set(objects.map(({ kind, name }) => `${kind} ${name}`))
  return found.filter(({ kind, name, of }) => created.has(of === null ? `${kind} ${name}` : `table ${of}`))
}

/**
 * What a database lacks of a schema, such as `the table contacts`. What a table has is not named beside the table. More than
 * the schema creates, such as an index of the operator, does not count.
 */
export async function missingParts(
  query: (text: string) => Promise<{ rows: unknown[] }>,
  { objects }: { objects: readonly SchemaObject[] },
): Promise<string[]> {
  const found = (await query(PARTS)).rows as Part[]
  const whole = new Set(found.map(idOf))
  const names = new Set(found.map(nameOf))
  const missing = objects.filter((object) => !names.has(nameOf(object))).map((object) => `the ${nameOf(object)}`)
  if (!names.has('table schema_fingerprint')) return missing
  const [recorded] = (await query('SELECT parts FROM schema_fingerprint')).rows as { parts: Part[] }[]
  const others = (recorded?.parts ?? []).filter((part) => {
    const isNamed = missing.includes(`the ${nameOf(part)}`) || missing.includes(`the table ${part.of}`)
    return !isNamed && !whole.has(idOf(part))
  })
  return [...missing, ...others.map((part) => differing(part, names))]
}

function differing(part: Part, names: ReadonlySet<string>): string {
  return `the ${nameOf(part)}${names.has(nameOf(part)) ? ' as this version creates it' : ''}`
}

const nameOf = ({ kind, name }: Pick<Part, 'kind' | 'name'>) => `${kind} ${name}`
const idOf = (part: Part) => [nameOf(part), part.of, part.details].join(' ')
