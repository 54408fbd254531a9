import { expect, test } from 'vitest'
import { unscopedModules } from './all-tenants.ts'
import { circlesOfFiles, circlesOfFolders } from './circles.ts'
import { clickHouseUsers } from './clickhouse.ts'
import { dashboardRules } from './dashboard.ts'
import { fakeTimers, importRules, trackerImports } from './imports.ts'
import { longFiles, tooLong, tooShort } from './sizes.ts'
import { DASHBOARD, SERVER, type Sources, TRACKER } from './sources.ts'
import { foreignTables, tablesInVariables } from './tables.ts'

/** The files of the server's sources. */
function server(files: Record<string, string>): Sources {
  return new Map(Object.entries(files).map(([file, text]) => [SERVER + file, text]))
}

const lines = (count: number) => 'line\n'.repeat(count)
const SCHEMA = {
  'shops/tables.sql': 'CREATE TABLE shops (\n  shop_id uuid PRIMARY KEY\n);\n',
  'goods/tables.sql': 'CREATE TABLE goods (\n  shop_id uuid NOT NULL REFERENCES shops\n);\n',
}

test.each([
  ["tenant.db.selectFrom('shops').selectAll()", 'reads'],
  ["tenant.db.selectFrom('goods').innerJoin('shops as near', 'near.shop_id', 'goods.shop_id')", 'reads'],
  ["tenant.db.updateTable('goods').from('shops')", 'reads'],
  ['sql`SELECT 1 FROM goods JOIN shops USING (shop_id)`', 'reads'],
  ['sql`SELECT 1 FROM\n  shops`', 'reads'],
  ["const count = (table: 'goods' | 'shops') => tenant.db.selectFrom(table)", 'reads'],
  [`const count = (from: 'goods' | 'shops') => \`SELECT count() FROM \${from}\``, 'reads'],
  ["expressionBuilder<TenantTables, 'shops'>()", 'reads'],
  ["query.where('shops.shop_id', '=', shopId)", 'reads'],
  ['sql`coalesce(shops.shop_id, 0)`', 'reads'],
  ["tenant.db.insertInto('shops')", 'writes'],
  ["tenant.db.updateTable('shops')", 'writes'],
  ["tenant.db\n  .deleteFrom('shops')", 'writes'],
  ['sql`INSERT INTO shops VALUES (1)`', 'writes'],
  ['sql`UPDATE shops SET shop_id = 1`', 'writes'],
  ["const COLUMNS: SealedColumn[] = [{ table: 'shops', column: 'sealed' }]", 'writes'],
])('a folder uses only its own tables: %s', (code, verb) => {
  const violation = `goods/list.ts ${verb} shops, which is a table of shops/`
  expect(foreignTables(server({ ...SCHEMA, 'goods/list.ts': code }))).toEqual([violation])
  expect(foreignTables(server({ ...SCHEMA, 'shops/list.ts': code.replaceAll("'goods", "'shops") }))).toEqual(
    code.includes('FROM goods') ? ['shops/list.ts reads goods, which is a table of goods/'] : [],
  )
})

test.each([
  ['CREATE FUNCTION f() RETURNS bigint LANGUAGE sql RETURN (SELECT count(*) FROM goods);', 'reads goods'],
  ['CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN DELETE FROM goods; RETURN NULL; END $$;', 'writes goods'],
  ['CREATE TRIGGER sold AFTER INSERT OR DELETE ON goods FOR EACH ROW EXECUTE FUNCTION f();', 'writes goods'],
  ['CREATE UNIQUE INDEX goods_name ON goods (name);', 'writes goods'],
  ['ALTER TABLE goods ADD COLUMN price integer;', 'writes goods'],
])('the SQL of a folder uses only its own tables: %s', (statement, violation) => {
  const sources = server({ ...SCHEMA, 'shops/tables.sql': `${SCHEMA['shops/tables.sql']}${statement}\n` })
  expect(foreignTables(sources)).toContain(`shops/tables.sql ${violation}, which is a table of goods/`)
})

test('a foreign key may name any table, and the SQL beside it may read that one', () => {
  const count = 'CREATE FUNCTION f() RETURNS bigint LANGUAGE sql RETURN (SELECT count(*) FROM shops);\n'
  const sources = server({ ...SCHEMA, 'goods/tables.sql': SCHEMA['goods/tables.sql'] + count })
  expect(foreignTables(sources)).toEqual([])
})

test('tests, comments and words that are no tables use nothing', () => {
  const sources = server({
    ...SCHEMA,
    'goods/list.test.ts': "db.selectFrom('shops')",
    'goods/list.ts':
      "// FROM shops, shops.shop_id\nconst text = 'shops'\nBuffer.from('shops')\nshops.map(find)\nread('shops.csv')\n",
    'goods/more/tables.sql': '-- UPDATE shops\n',
  })
  expect(foreignTables(sources)).toEqual([])
})

test('a folder that defines a table of ClickHouse may use its name', () => {
  const sources = server({
    ...SCHEMA,
    'goods/copy.ts': "export const COPY: TableDefinition = {\n  name: 'shops',\n}\n",
    'goods/list.ts': 'const rows = `SELECT 1 FROM shops`',
  })
  expect(foreignTables(sources)).toEqual([])
})

test('a table that only ClickHouse has belongs to the folder with its definition; the handle of a tenant reads it', () => {
  const read = 'const rows = `SELECT 1 FROM sales`'
  const sources = server({
    'goods/sales.ts': "export const SALES: TableDefinition = {\n  name: 'sales',\n}\n",
    'goods/list.ts': read,
    'platform/clickhouse/handle.ts': read,
    'shops/list.ts': read,
  })
  expect(foreignTables(sources)).toEqual(['shops/list.ts reads sales, which is a table of goods/'])
})

test.each([
  `sql\`SELECT 1 FROM \${sql.table(name)}\``,
  'const count = (db: Any, table: string) => db.selectFrom(table)',
  `const count = (table: Name) => sql\`SELECT count(*) FROM \${table}\``,
  `const remove = ({ table }: Definition) => \`ALTER TABLE \${table.name} DELETE\``,
])('a file that gets the names of tables from elsewhere is listed with a reason: %s', (code) => {
  const sources = server({ 'goods/count.ts': code })
  expect(tablesInVariables(sources, {})).toEqual([expect.stringContaining('goods/count.ts gets names')])
  expect(tablesInVariables(sources, { 'goods/count.ts': 'a reason' })).toEqual([])
  expect(tablesInVariables(server({}), { 'goods/count.ts': 'a reason' })).toEqual([
    expect.stringContaining('goods/count.ts no longer gets names'),
  ])
})

test.each([
  `sql\`SELECT 1 FROM \${NEAR_SHOPS} AS near JOIN \${rowsOf(sent)} AS sent\``,
  `const near = sql\`(SELECT 1 FROM goods)\`\nsql\`SELECT 1 FROM \${near}\``,
  `sql\`SELECT 1 WHERE name IS DISTINCT FROM \${name}\``,
])('what a constant, a call or a text of the file holds is checked where it is written: %s', (code) => {
  expect(tablesInVariables(server({ 'goods/count.ts': code }), {})).toEqual([])
})

test('folders import one another in one direction', () => {
  const sources = server({
    'goods/list.ts': "import { shop } from '../shops/shop.ts'\n",
    'shops/shop.ts': "import { near } from './near/near.ts'\n",
    'shops/near/near.ts': "import type { Good } from '../../goods/good.ts'\n",
    'goods/good.ts': 'export interface Good {}\n',
  })
  expect(circlesOfFolders(sources)).toEqual([
    'a circle of folders, goods → shops → goods:\n  goods/list.ts imports shops/shop.ts\n  shops/near/near.ts imports goods/good.ts',
  ])
  expect(circlesOfFiles(sources)).toEqual([])
})

test('features of the dashboard do not import one another in a circle either', () => {
  const files = { 'goods/page.tsx': "from '../shops/name.ts'", 'shops/page.tsx': "import('../goods/page.tsx')" }
  const sources = new Map(Object.entries(files).map(([file, text]) => [DASHBOARD + file, text]))
  expect(circlesOfFolders(sources)).toEqual([
    'a circle of folders, goods → shops → goods:\n  goods/page.tsx imports shops/name.ts\n  shops/page.tsx imports goods/page.tsx',
  ])
})

test('files import one another in one direction, types included', () => {
  const sources = server({
    'goods/a.ts': "import { b } from './b.ts'\n",
    'goods/b.ts': "import { c } from './c.ts'\n",
    'goods/c.ts': "import type { A } from './a.ts'\nimport { d } from './d.ts'\n",
    'goods/d.ts': 'export const d = 1\n',
    'goods/e.ts': "import { a } from './a.ts'\n",
  })
  const circle = 'goods/a.ts, goods/b.ts, goods/c.ts'
  expect(circlesOfFiles(sources)).toEqual([`files in a circle: ${circle}`])
})

test.each([
  "import { type Database, connect } from '../platform/postgres/database.ts'\nexport const read = (db: Database) => db\n",
  "import { connectClickHouse } from '../platform/clickhouse/connect.ts'\n",
  "export const read = ({ unrestricted }: Tenant) => unrestricted.selectFrom('goods')\n",
])('only listed modules see all tenants: %s', (code) => {
  const sources = server({ 'goods/list.ts': code })
  expect(unscopedModules(sources, [])).toEqual([expect.stringContaining('goods/list.ts sees all tenants')])
  expect(unscopedModules(sources, ['goods'])).toEqual([])
  expect(unscopedModules(server({}), ['goods'])).toEqual([expect.stringContaining('goods no longer sees all tenants')])
})

test('types of tables and placeholders give no access', () => {
  const code = "import type { TenantTables } from '../platform/postgres/database.ts'\n"
  expect(unscopedModules(server({ 'goods/list.ts': code }), [])).toEqual([])
})

test.each([
  "const rows = await stores.clickhouse.query('SELECT 1')",
  "export const read = ({ clickhouse }: Stores) => clickhouse.query('SELECT 1')",
  'const { clickhouse: engine } = stores',
  'const { query } = stores.clickhouse',
])('only listed files use ClickHouse directly, past the barrier: %s', (code) => {
  const sources = server({ 'events/list.ts': code })
  expect(clickHouseUsers(sources, {})).toEqual([expect.stringContaining('USES_CLICKHOUSE')])
  expect(clickHouseUsers(sources, { 'events/list.ts': 'a reason' })).toEqual([])
})

test('a feature may mention ClickHouse in texts, comments and imports', () => {
  const code = `import { isOwnedBy } from '../platform/clickhouse/tenant-events.ts'

/** Reads clickhouse. */
export const NAME = "clickhouse"
`
  expect(clickHouseUsers(server({ 'events/list.ts': code }), {})).toEqual([])
})

test('a file that no longer uses ClickHouse must be removed from the list', () => {
  expect(clickHouseUsers(server({ 'events/list.ts': '' }), { 'events/list.ts': 'a reason' })).toEqual([
    expect.stringContaining('remove it from'),
  ])
})

test.each([
  ['goods/list.ts', "import { OPERATIONS } from '../assembly/all-operations.ts'", 'only assembly/ may import'],
  ['platform/cache.ts', "import { shop } from '../shops/shop.ts'", 'platform must not import features'],
  ['config.ts', "import { cache } from './platform/cache.ts'", 'the configuration must not import platform'],
  ['goods/list.ts', "import { shopRoutes } from '../shops/routes.ts'", 'nothing imports routes'],
  [
    'agents/reasoning/prompt.ts',
    "import { send } from '../../identities/mail/send.ts'",
    'must not import code that acts',
  ],
  ['agents/reasoning/prompt.ts', "import { decide } from '../actions/decide.ts'", 'must not import code that acts'],
  ['goods/list.ts', "import { request } from 'node:https'", 'only platform/outbound calls other hosts'],
  ['goods/list.ts', "await fetch('https://example.com')", 'only platform/outbound calls other hosts'],
])('%s must not: %s', (file, code, rule) => {
  expect(importRules(server({ [file]: code }))).toEqual([expect.stringContaining(rule)])
})

test.each([
  ['goods/list.ts', "import { shop } from '../shops/shop.ts'"],
  ['cli/list.ts', "import { OPERATIONS } from '../assembly/all-operations.ts'"],
  ['agents/reasoning/prompt.ts', "import { limits } from '../actions/settings.ts'"],
  ['platform/outbound/client.ts', "import { request } from 'node:https'"],
])('%s may: %s', (file, code) => {
  expect(importRules(server({ [file]: code }))).toEqual([])
})

test('the tracker imports only its own files', () => {
  const imports = "import { a } from './a.ts'\nimport { b } from 'b'\nimport { c } from '../../server/src/c.ts'\n"
  expect(trackerImports(new Map([[`${TRACKER}main.ts`, imports]]))).toEqual([
    expect.stringContaining('imports b'),
    expect.stringContaining('imports ../../server/src/c.ts'),
  ])
})

test('tests of the server use no fake timers', () => {
  expect(fakeTimers(server({ 'goods/list.test.ts': 'vi.useFakeTimers()' }))).toHaveLength(1)
})

test('very long files fail and long ones are noted, except catalogues', () => {
  const sources = server({
    'a.ts': lines(601),
    'b.ts': lines(301),
    'c.test.ts': lines(301),
    'd/text.ts': lines(301),
    'e.sql': lines(601),
  })
  expect(tooLong(sources)).toEqual([expect.stringContaining('a.ts: 601 lines')])
  expect(longFiles(sources)).toEqual([expect.stringContaining('a.ts has 601'), expect.stringContaining('b.ts has 301')])
})

test('a short file joins the only file of its folder that imports it', () => {
  const short = { 'goods/price.ts': lines(29), 'goods/list.ts': "import { price } from './price.ts'\n" }
  expect(tooShort(server(short))).toEqual([expect.stringContaining('goods/price.ts: 29 lines')])
  expect(tooShort(server({ ...short, 'goods/price.ts': lines(30) }))).toEqual([])
  expect(tooShort(server({ ...short, 'goods/price.test.ts': "import { price } from './price.ts'\n" }))).toEqual([])
  expect(tooShort(server({ ...short, 'goods/list.ts': "await import('./price.ts')\n" }))).toEqual([])
})

test.each([
  ['list.tsx', "await fetch('/v1/goods')", 'only api/ calls'],
  ['list.tsx', 'return <p dangerouslySetInnerHTML={html} />', 'writes markup'],
  ['list.tsx', "import { shop } from '../../server/src/shops/shop.ts'", 'only types from the server'],
  ['list.tsx', "import { CustomerData } from '../../client/src/index.ts'", 'only types from the server'],
  ['goods/list.tsx', 'return <Input label="Name of the good" />', 'put the text into text.ts'],
])('the dashboard must not, in %s: %s', (file, code, rule) => {
  const biome = JSON.stringify({
    overrides: [{ includes: [`${DASHBOARD}goods/**`], linter: { rules: { style: { noJsxLiterals: 'error' } } } }],
  })
  const sources = new Map([
    [DASHBOARD + file, code],
    ['biome.json', biome],
  ])
  expect(dashboardRules(sources)).toEqual([expect.stringContaining(rule)])
})
