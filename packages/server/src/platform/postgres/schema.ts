import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'

/** What a baseline's statements create, so that a database can be compared with it. Nothing of it is listed by hand. */
export interface Schema {
  statements: string
  /** Changes with the statements, but not with their comments. */
  fingerprint: string
  objects: readonly SchemaObject[]
}

export interface SchemaObject {
  kind: 'table' | 'sequence' | 'function' | 'trigger'
  /** With its schema, if the statement names one: `contacts`, `pgboss.job`. */
  name: string
}

const CREATED = /^\s*CREATE (?:UNLOGGED )?(TABLE|SEQUENCE|FUNCTION|TRIGGER) ((?:\w+\.)?\w+)/gm

export function objectsOf(statements: string): SchemaObject[] {
  return [...statements.matchAll(CREATED)].map(([, kind = '', name = '']) => ({
    kind: kind.toLowerCase() as SchemaObject['kind'],
    name,
  }))
}

export function schemaOf(statements: string): Schema {
  const objects = objectsOf(statements)
  const withoutComments = statements.replace(/^\s*--.*\n/gm, '')
  const fingerprint = createHash('sha256').update(withoutComments.replace(/\s+/g, ' ')).digest('hex')
  return { statements, fingerprint, objects }
}

/** Creates everything, and records by which statements. @param db a transaction. */
export async function createSchema(db: Kysely<unknown>, { statements, fingerprint }: Schema): Promise<void> {
  await sql.raw(statements).execute(db)
  await sql`INSERT INTO schema_fingerprint (fingerprint) VALUES (${fingerprint})`.execute(db)
}

/**
 * Whose tables a database has: `unknown` if there are tables with our names that other statements created. Call it
 * under the migration lock: another process may be creating them.
 */
export async function ownerOfTables<Tables>(
  db: Kysely<Tables>,
  schema: Schema,
): Promise<'nobody' | 'known' | 'unknown'> {
  const names = schema.objects.filter(({ kind }) => kind === 'table').map(({ name }) => name)
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM unnest(${names}::text[]) AS name WHERE to_regclass(quote_ident(name)) IS NOT NULL`.execute(db)
  if (rows.length === 0) return 'nobody'
  if (!rows.some(({ name }) => name === 'schema_fingerprint')) return 'unknown'
  const { rows: recorded } = await sql<{ fingerprint: string }>`SELECT fingerprint FROM schema_fingerprint`.execute(db)
  return recorded[0]?.fingerprint === schema.fingerprint ? 'known' : 'unknown'
}

/** What a database lacks of these, such as `the table contacts`. The query takes a millisecond. */
export async function missingObjects(
  query: (text: string, values: unknown[]) => Promise<{ rows: { kind: string; name: string }[] }>,
  objects: readonly SchemaObject[],
): Promise<string[]> {
  const { rows } = await query(
    `SELECT kind, name FROM unnest($1::text[], $2::text[]) AS wanted (kind, name)
     WHERE NOT CASE kind
       -- Null for a name that two functions share, too; no two of ours do.
       WHEN 'function' THEN to_regproc(name) IS NOT NULL
       WHEN 'trigger' THEN EXISTS (SELECT FROM pg_trigger WHERE tgname = name AND pg_table_is_visible(tgrelid))
       ELSE to_regclass(name) IS NOT NULL
     END`,
    [objects.map(({ kind }) => kind), objects.map(({ name }) => name)],
  )
  return rows.map(({ kind, name }) => `the ${kind} ${name}`)
}
