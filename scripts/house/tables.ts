import { folderOf, SERVER, type Sources, serverCode, withoutComments } from './sources.ts'

/** Files that get the names of tables from elsewhere, so nothing in them shows which ones. */
const ANY_TABLE: Readonly<Record<string, string>> = {
  'closing/delete-rows.ts': 'deletes the rows of a tenant from every table that PostgreSQL names',
  'journal/event-ids.ts': 'its three tables take turns',
  'journal/insert-again.ts': 'looks up rows of the table that an insertion names',
  'journal/sent-ids.ts': 'its three tables take turns',
  'platform/clickhouse/connect.ts': 'inserts into the table that the projector names',
  'platform/clickhouse/delete-rows.ts': 'deletes rows of the table whose definition a feature passes',
  'platform/clickhouse/tables.ts': 'adds columns to the tables whose definitions features pass',
  'platform/crypto/reseal.ts': 'each feature declares its columns with ciphertexts',
  'platform/runs/workers.ts': 'each feature declares the table of its runs',
  'tenant-export/rows.ts': 'an export has all tables of a tenant; a test compares its list with the database',
}

/** Files whose statements are for other services, in languages like SQL: their tables are not ours. */
const OTHER_SERVICES: Readonly<Record<string, string>> = {
  'connectors/posthog/queries.ts': 'HogQL',
  'connectors/salesforce/current.ts': 'SOQL',
  'connectors/salesforce/opportunities.ts': 'SOQL',
  'connectors/salesforce/read.ts': 'SOQL',
}

interface Use {
  file: string
  folder: string
  verb: 'reads' | 'writes'
  table: string
}

/**
 * A folder uses its own tables; it uses others through what their folders export. There are no exceptions, but the table
 * that a variable names is not seen here: `tablesInVariables` lists those files.
 */
export function foreignTables(sources: Sources): string[] {
  const owners = ownersOf(sources)
  const columns = columnsOf(sources)
  const uses = [...sources].flatMap(([path, text]) => usesIn(path, text, owners, columns))
  const foreign = uses.filter(({ folder, table }) => owners.get(table)?.includes(folder) === false)
  const problems = foreign.map(
    ({ file, verb, table }) => `${file} ${verb} ${table}, which is a table of ${owners.get(table)?.[0]}/`,
  )
  return [...new Set(problems)]
}

/** Files whose statements take the name of a table from a parameter or a list must be listed. */
export function tablesInVariables(sources: Sources, listed: Readonly<Record<string, string>> = ANY_TABLE): string[] {
  const owners = ownersOf(sources)
  const files = serverCode(sources).flatMap(([file, text]) => {
    if (Object.hasOwn(OTHER_SERVICES, file)) return []
    const isOfUnknown = hasVariableInSql(text) && quotedTables(text, owners).length === 0
    const isOfText = (VARIABLE.test(text) || hasVariableInSql(text)) && /\btable: string\b/.test(text)
    return /\bsql\.table\(/.test(text) || isOfUnknown || isOfText ? [file] : []
  })
  const unlisted = files.filter((file) => !Object.hasOwn(listed, file))
  const unneeded = Object.keys(listed).filter((file) => !files.includes(file))
  return [
    ...unlisted.map((file) => `${file} gets names of tables from elsewhere: name them, or give a reason in ANY_TABLE`),
    ...unneeded.map((file) => `${file} no longer gets names of tables from elsewhere: remove it from ANY_TABLE`),
  ]
}

/**
 * The folder of each table: the one whose tables.sql creates it, or that has its definition for ClickHouse. The tenant's
 * handle in platform/ reads ClickHouse's tables for all features, and adds the tenant to every query.
 */
function ownersOf(sources: Sources): Map<string, string[]> {
  const owners = new Map<string, string[]>()
  for (const [path, text] of sources) {
    if (!isSchema(path)) continue
    for (const table of namesIn(text, /^CREATE TABLE (\w+)/gm)) owners.set(table, [folderOf(path.slice(SERVER.length))])
  }
  for (const [file, text] of serverCode(sources)) {
    for (const table of namesIn(text, /: TableDefinition = \{\s*name: '(\w+)'/g))
      owners.set(table, [...new Set([...(owners.get(table) ?? []), folderOf(file), 'platform'])])
  }
  return owners
}

/** The columns of each table of PostgreSQL. */
function columnsOf(sources: Sources): Map<string, ReadonlySet<string>> {
  const schemas = [...sources].filter(([path]) => isSchema(path)).map(([, text]) => text)
  const tables = schemas.flatMap((text) => [...text.matchAll(/^CREATE TABLE (\w+) \(\n([^;]*)/gm)])
  return new Map(tables.map(([, table = '', body = '']) => [table, new Set(namesIn(body, /^ {2}([a-z_]\w*) /gm))]))
}

function isSchema(path: string): boolean {
  return path.startsWith(SERVER) && path.endsWith('.sql')
}

const WRITES_IN_SQL = /\b(?:INSERT INTO|UPDATE|DELETE FROM|TRUNCATE|MERGE INTO)\s+(\w+)/g
const READS_IN_SQL = /\b(?:FROM|JOIN|USING)\s+(\w+)/g
const WRITES = /(?:insertInto|updateTable|deleteFrom|mergeInto)\(\s*'(\w+)/g
const READS = /(?:selectFrom|[a-z]Join|using|(?<!Buffer|Array)\.from)\(\s*'(\w+)/g
/** A statement whose table, or subquery, is in a variable. */
const VARIABLE = /(?:selectFrom|insertInto|updateTable|deleteFrom)\(\s*\w+\s*\)/
/** The same in SQL. A call's result and a constant's value are checked where they are written. */
const VARIABLE_IN_SQL = /\b(?:(?<!DISTINCT )FROM|JOIN|USING|INTO|UPDATE|TABLE)\s+\$\{([a-z]\w*)(?:\.\w+)*\}/g
/** A column with its table, and a query that is typed as one of a table. */
const COLUMN = /(?<![\w.$])(\w+)\.(\w+)\b(?!\()/g
const TYPES = /\bTenantTables,\s*((?:\|?\s*'\w+'\s*)+)/g
/** The tables whose definition a statement changes, or to which it adds an index or a trigger. */
const CHANGES =
  /\bALTER TABLE\s+(?:ONLY\s+)?(\w+)|\bCREATE (?:UNIQUE )?INDEX \w+ ON\s+(\w+)|\bCREATE (?:CONSTRAINT )?TRIGGER \w+\s[\w\s]*?\bON\s+(\w+)/g

/** Whether a statement in SQL gets its table from a variable that this file does not set to a text. */
function hasVariableInSql(text: string): boolean {
  return namesIn(text, VARIABLE_IN_SQL).some((name) => !new RegExp(`const ${name} = (?:sql)?\``).test(text))
}

function quotedTables(text: string, owners: ReadonlyMap<string, unknown>): string[] {
  return namesIn(text, /'(\w+)'/g).filter((name) => owners.has(name))
}

function usesIn(
  path: string,
  text: string,
  owners: ReadonlyMap<string, readonly string[]>,
  columns: ReadonlyMap<string, ReadonlySet<string>>,
): Use[] {
  const file = path.slice(SERVER.length)
  const use = (verb: Use['verb']) => (table: string) => ({ file, folder: folderOf(file), verb, table })
  if (isSchema(path)) {
    const statements = text.replace(/--.*$/gm, '')
    // A foreign key makes the other row a condition of this one, so a trigger may check that it exists.
    const referenced = new Set(namesIn(statements, /\bREFERENCES\s+(\w+)/g))
    return [
      ...[...namesIn(statements, WRITES_IN_SQL), ...namesIn(statements, CHANGES)].map(use('writes')),
      ...namesIn(statements, READS_IN_SQL)
        .filter((table) => !referenced.has(table))
        .map(use('reads')),
    ]
  }
  if (!path.startsWith(SERVER) || !path.endsWith('.ts') || path.endsWith('.test.ts')) return []
  if (Object.hasOwn(OTHER_SERVICES, file)) return []
  const code = withoutComments(text)
  const written = [...namesIn(code, WRITES), ...namesIn(code, WRITES_IN_SQL)]
  // Lists of tables that another part of the service writes.
  if (/\bSealedColumn\b/.test(code)) written.push(...namesIn(code, /\btable: '(\w+)'/g))
  const read = [...namesIn(code, READS), ...namesIn(code, READS_IN_SQL)]
  if (VARIABLE.test(code) || hasVariableInSql(code)) read.push(...quotedTables(code, owners))
  const named = [...code.matchAll(COLUMN)].filter(([, table = '', column = '']) => columns.get(table)?.has(column))
  read.push(...named.map(([, table = '']) => table))
  read.push(...namesIn(code, TYPES).flatMap((tables) => namesIn(tables, /'(\w+)'/g)))
  return [...written.map(use('writes')), ...read.map(use('reads'))]
}

/** The first group of each match that has one. */
function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, ...groups]) => groups.find((group) => group !== undefined) ?? [])
}
