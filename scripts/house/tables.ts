import { folderOf, SERVER, type Sources, serverCode, withoutComments } from './sources.ts'

/** Files that get the names of tables from elsewhere, so that nothing here shows which ones. */
const ANY_TABLE: Readonly<Record<string, string>> = {
  'journal/event-ids.ts': 'its three tables take turns',
  'platform/crypto/reseal.ts': 'each feature declares its columns with ciphertexts',
  'tenant-export/rows.ts': 'an export has all tables of a tenant; a test compares its list with the database',
}

interface Use {
  file: string
  folder: string
  verb: 'reads' | 'writes'
  table: string
}

/** A folder uses its own tables; it uses others through the functions of their folders. There are no exceptions. */
export function foreignTables(sources: Sources): string[] {
  const owners = ownersOf(sources)
  const uses = [...sources].flatMap(([path, text]) => usesIn(path, text, owners))
  const foreign = uses.filter(({ folder, table }) => owners.get(table)?.includes(folder) === false)
  const problems = foreign.map(
    ({ file, verb, table }) => `${file} ${verb} ${table}, which is a table of ${owners.get(table)?.[0]}/`,
  )
  return [...new Set(problems)]
}

/** Files whose statements take the name of a table from a parameter or a list must be listed. */
export function tablesInVariables(sources: Sources, listed: Readonly<Record<string, string>> = ANY_TABLE): string[] {
  const files = serverCode(sources).flatMap(([file, text]) =>
    /\bsql\.table\(/.test(text) || (VARIABLE.test(text) && /\btable: string\b/.test(text)) ? [file] : [],
  )
  const unlisted = files.filter((file) => !Object.hasOwn(listed, file))
  const unneeded = Object.keys(listed).filter((file) => !files.includes(file))
  return [
    ...unlisted.map((file) => `${file} gets names of tables from elsewhere: name them, or give a reason in ANY_TABLE`),
    ...unneeded.map((file) => `${file} no longer gets names of tables from elsewhere: remove it from ANY_TABLE`),
  ]
}

/**
 * The folder of each PostgreSQL table: the one whose tables.sql creates it. If ClickHouse has a table of the same name, its
 * folder follows: the names in a statement do not show which engine it is for.
 */
function ownersOf(sources: Sources): Map<string, string[]> {
  const owners = new Map<string, string[]>()
  for (const [path, text] of sources) {
    if (!isSchema(path)) continue
    for (const table of namesIn(text, /^CREATE TABLE (\w+)/gm)) owners.set(table, [folderOf(path.slice(SERVER.length))])
  }
  for (const [file, text] of serverCode(sources)) {
    for (const table of namesIn(text, /: TableDefinition = \{\s*name: '(\w+)'/g))
      owners.get(table)?.push(folderOf(file))
  }
  return owners
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
/** The tables whose definition a statement changes, or to which it adds an index or a trigger. */
const CHANGES =
  /\bALTER TABLE\s+(?:ONLY\s+)?(\w+)|\bCREATE (?:UNIQUE )?INDEX \w+ ON\s+(\w+)|\bCREATE (?:CONSTRAINT )?TRIGGER \w+\s[\w\s]*?\bON\s+(\w+)/g

function usesIn(path: string, text: string, owners: ReadonlyMap<string, readonly string[]>): Use[] {
  const file = path.slice(SERVER.length)
  const use = (verb: Use['verb']) => (table: string) => ({ file, folder: folderOf(file), verb, table })
  if (isSchema(path)) {
    const statements = text.replace(/--.*$/gm, '')
    // A foreign key makes the other row a condition of one's own, so that a trigger may look whether it exists.
    const referenced = new Set(namesIn(statements, /\bREFERENCES\s+(\w+)/g))
    return [
      ...[...namesIn(statements, WRITES_IN_SQL), ...namesIn(statements, CHANGES)].map(use('writes')),
      ...namesIn(statements, READS_IN_SQL)
        .filter((table) => !referenced.has(table))
        .map(use('reads')),
    ]
  }
  if (!path.startsWith(SERVER) || !path.endsWith('.ts') || path.endsWith('.test.ts')) return []
  const code = withoutComments(text)
  const written = [...namesIn(code, WRITES), ...namesIn(code, WRITES_IN_SQL)]
  // Lists of tables that another part of the service writes.
  if (/\bSealedColumn\b/.test(code)) written.push(...namesIn(code, /\btable: '(\w+)'/g))
  const read = [...namesIn(code, READS), ...namesIn(code, READS_IN_SQL)]
  if (VARIABLE.test(code)) read.push(...namesIn(code, /'(\w+)'/g).filter((name) => owners.has(name)))
  return [...written.map(use('writes')), ...read.map(use('reads'))]
}

/** The first group of each match that has one. */
function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, ...groups]) => groups.find((group) => group !== undefined) ?? [])
}
