import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { PARTS, type Part, partsOf, type SchemaObject } from './parts.ts'

/** What a baseline's statements create, so that a database can be compared with it. Nothing of it is listed by hand. */
export interface Schema {
  statements: string
  /** Changes with the statements, but not with their comments. */
  fingerprint: string
  objects: readonly SchemaObject[]
}

const CREATED =
  /^\s*CREATE (?:UNLOGGED )?(TABLE|SEQUENCE|FUNCTION|TRIGGER|EXTENSION)(?: IF NOT EXISTS)? ((?:\w+\.)?\w+)/gm

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

/** Creates everything, and records by which statements, and what came of them. @param db a transaction. */
export async function createSchema(db: Kysely<unknown>, schema: Schema): Promise<void> {
  await sql.raw(schema.statements).execute(db)
  const { rows } = await sql.raw<Part>(PARTS).execute(db)
  const parts = JSON.stringify(partsOf(schema, rows))
  await sql`INSERT INTO schema_fingerprint (fingerprint, parts) VALUES (${schema.fingerprint}, ${parts})`.execute(db)
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
