import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openDirectory } from '../../../test/process.ts'
import { startEmbeddedPostgres } from './postgres.ts'

const LONG =
  'a line that is as long as a hundred characters, which makes the size of the file easy to tell, so.\n'.repeat(120_000)

test("PostgreSQL's log stays bounded, at startup and while it runs, and contains no personal data", async () => {
  const dataDirectory = await openDirectory()
  onTestFinished(() => rm(dataDirectory, { recursive: true, force: true }))
  const first = await startEmbeddedPostgres({ dataDirectory })
  await first.stop()
  const file = join(dirname(first.cluster), 'postgres.log')
  const sizeOf = async (path: string) => (await stat(path)).size
  await writeFile(file, LONG)

  const { connection, stop } = await startEmbeddedPostgres({ dataDirectory, checkLogEveryMs: 50 })
  onTestFinished(stop)
  expect(await sizeOf(file)).toBeLessThan(1_000_000)
  expect(await sizeOf(`${file}.1`)).toBeGreaterThanOrEqual(LONG.length)

  await writeFile(file, LONG, { flag: 'a' })
  await expect.poll(() => sizeOf(file)).toBeLessThan(1_000_000)
  // The server continues writing at the beginning of the file.
  const client = new pg.Client(connection)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('CREATE TABLE people (email text UNIQUE)')
  await client.query("INSERT INTO people VALUES ('ada@example.com')")
  await expect(client.query('INSERT INTO people VALUES ($1)', ['ada@example.com'])).rejects.toThrow('duplicate key')
  await expect.poll(() => readFile(file, 'utf8')).toContain('duplicate key')
  const log = await readFile(file, 'utf8')
  expect(log).not.toContain('\0')
  expect(log).not.toContain('ada@example.com')
})
