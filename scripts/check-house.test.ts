import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const CHECK = join(import.meta.dirname, 'check-house.ts')
const LISTED = 'journal/projector.ts'

/** Checks a repository with a single file of the server. @returns the violations. */
async function violationsOf(file: string, text: string): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'cds-house-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const path = join(directory, 'packages/server/src', file)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  await writeFile(join(directory, 'biome.json'), JSON.stringify({ overrides: [] }))
  const { status, stderr } = spawnSync(process.execPath, [CHECK], { cwd: directory, encoding: 'utf8' })
  const violations = stderr.split('\n').filter((line) => line !== '')
  expect(status).toBe(violations.length > 0 ? 1 : 0)
  return violations
}

test.each([
  "const rows = await stores.clickhouse.query('SELECT 1')",
  "export const read = ({ clickhouse }: Stores) => clickhouse.query('SELECT 1')",
  'const { clickhouse: engine } = stores',
  'const { query } = stores.clickhouse',
])('only listed files use ClickHouse directly, past the barrier: %s', async (text) => {
  expect(await violationsOf('events/list.ts', text)).toEqual([expect.stringContaining('USES_CLICKHOUSE')])
  expect(await violationsOf(LISTED, text)).toEqual([])
})

test('a feature may mention ClickHouse in texts, comments and imports', async () => {
  const text = `import { isOwnedBy } from '../platform/clickhouse/tenant-events.ts'

/** Reads clickhouse. */
export const NAME = "clickhouse"
`
  expect(await violationsOf('events/list.ts', text)).toEqual([])
})

test('a file that no longer uses ClickHouse must be removed from the list', async () => {
  expect(await violationsOf(LISTED, 'export const NAME = 1\n')).toEqual([expect.stringContaining('remove it from')])
})
