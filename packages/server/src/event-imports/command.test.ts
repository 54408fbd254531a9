import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { breakBlocked, untilOneIsBlocked } from '../../test/blocked.ts'
import { jsonLines } from '../../test/event-files.ts'
import { openDirectory, startCommand } from '../../test/process.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant
let directory: string
/** Where standard input is copied to. */
let temporary: string
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  directory = await openDirectory()
  temporary = await openDirectory()
})
afterAll(() => Promise.all([directory, temporary].map((path) => rm(path, { recursive: true, force: true }))))

const LINES = 20_000
const INVALID_EVERY = 1_000
/** Five chunks; the last line of every thousand is invalid. */
const linesOf = (event: string) =>
  jsonLines(
    ...Array.from({ length: LINES }, (_, n) =>
      isInvalid(n)
        ? { event, email: 'nobody' }
        : { event, timestamp: '2025-03-01T10:00:00.000Z', user_id: `user-${n % 7}`, data: { n } },
    ),
  )
const isInvalid = (n: number) => n % INVALID_EVERY === INVALID_EVERY - 1
const VALID = Array.from({ length: LINES }, (_, n) => n).filter((n) => !isInvalid(n))
const INVALID_LINES = Array.from({ length: LINES / INVALID_EVERY }, (_, n) => (n + 1) * INVALID_EVERY)

/** Starts `cdsctl import events -` beside the running service. */
function startImport(input: string | Buffer | null, ...options: string[]) {
  const { databaseUrl, dataDirectory } = service.config
  const environment = { DATABASE_URL: databaseUrl ?? '', CDS_DATA_DIR: dataDirectory, TMPDIR: temporary }
  const args = ['import', 'events', '-', '--tenant', tenant.id, ...options]
  const command = startCommand(args, environment, { input, directory })
  onTestFinished(() => void command.process.kill('SIGKILL'))
  return command
}

/** Acts while a running import waits in the middle of a chunk: the row with its progress is locked. */
async function whileHeld(act: () => Promise<void>): Promise<void> {
  const { pool } = service.postgres
  const client = await pool.connect()
  const { pid } = (await client.query('SELECT pg_backend_pid() AS pid')).rows[0]
  const lockStarted = async () => {
    await client.query('BEGIN')
    const { rowCount } = await client.query(
      `SELECT FROM event_imports
        WHERE tenant_id = $1 AND finished_at IS NULL AND lines_done BETWEEN 1 AND ${LINES - 1} FOR UPDATE`,
      [tenant.id],
    )
    if (rowCount === 0) await client.query('ROLLBACK')
    return rowCount
  }
  try {
    await expect.poll(lockStarted, { timeout: 60_000, interval: 5 }).toBe(1)
    await untilOneIsBlocked(pool, pid)
    await act()
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

/** The claim of a killed process ends. */
const endClaim = () =>
  service.postgres.pool.query('UPDATE event_imports SET claimed_until = now() WHERE tenant_id = $1', [tenant.id])

/** Checks that each valid line is recorded once: their number and the sum of their numbers. */
async function expectAllOnce(event: string): Promise<void> {
  const request = { entity: 'events', group_by: 'event_type', filters: { event_type: event } }
  const figure = async (metric: object) => {
    const { body } = await tenant.call('POST', '/v1/aggregate', { ...request, ...metric })
    return body.buckets[0].value
  }
  expect(await figure({ metric: 'count' })).toBe(VALID.length)
  expect(await figure({ metric: 'sum', metric_field: 'n' })).toBe(VALID.reduce((sum, n) => sum + n, 0))
}

/** The numbers of the lines in an errors file. Checks that each entry contains the line. */
async function failedLines(file: string, event: string): Promise<number[]> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  return lines.map((line) => {
    const failed = JSON.parse(line)
    expect(failed).toMatchObject({ code: 'validation_error', message: expect.any(String) })
    expect(JSON.parse(failed.text)).toEqual({ event, email: 'nobody' })
    return failed.line
  })
}

test('an import from standard input that is killed continues when it runs again: every event once', async () => {
  const event = 'killed'
  const errors = join(directory, 'killed errors.jsonl')
  const killed = startImport(gzipSync(linesOf(event)), '--errors', errors)
  await whileHeld(async () => {
    killed.process.kill('SIGKILL')
    expect(await killed.ended).toMatchObject({ exit: 'SIGKILL', stdout: '' })
  })
  const tooSoon = await startImport(linesOf(event), '--errors', errors).ended
  expect(tooSoon.exit).toBe(1)
  expect(JSON.parse(tooSoon.stdout).error).toMatchObject({
    code: 'import_running',
    message: expect.stringContaining(`process ${killed.process.pid}`),
  })
  await endClaim()
  // The file is the same: its contents count, not its compression.
  const { exit, stdout, stderr } = await startImport(linesOf(event), '--errors', errors).ended
  expect(JSON.parse(stdout)).toEqual({
    format: 'native',
    read: LINES,
    recorded: VALID.length,
    repeated: 0,
    people: 0,
    failed: INVALID_LINES.length,
    warned: 0,
    warnings: [],
    errors,
    imported_before: false,
  })
  expect(stderr).toMatch(/^· continuing after line (4|8|12|16),000$/m)
  expect(stderr).toContain(`cdsctl: 20 of 20,000 lines failed. ${errors} lists them with the reasons.`)
  expect(exit).toBe(3)
  expect(await failedLines(errors, event)).toEqual(INVALID_LINES)
  await expectAllOnce(event)
})

test('Ctrl+C ends an import after the current chunk, and says where it will continue', async () => {
  const event = 'interrupted'
  const interrupted = startImport(linesOf(event))
  await whileHeld(async () => void interrupted.process.kill('SIGINT'))
  const { exit, stdout, stderr } = await interrupted.ended
  const { code, message } = JSON.parse(stdout).error
  expect([exit, code]).toEqual([1, 'interrupted'])
  const [, line] = /^Stopped after line ([\d,]+)\. Run the same command again/.exec(message) ?? []
  expect(stderr).not.toContain('    at ')
  const again = await startImport(gzipSync(linesOf(event))).ended
  expect(again.stderr).toContain(`continuing after line ${line}`)
  expect(again.exit).toBe(3)
  expect(JSON.parse(again.stdout)).toMatchObject({ read: LINES, recorded: VALID.length, repeated: 0, failed: 20 })
  // Without --errors, the file is in the directory where the command ran.
  expect(await failedLines(join(directory, 'events.errors.jsonl'), event)).toEqual(INVALID_LINES)
  await expectAllOnce(event)
})

test('an import with warnings succeeds, and prints each kind with its first lines', async () => {
  const line = { type: 'identify', anonymousId: 'warned', traits: { plan: 'pro' } }
  const { exit, stdout, stderr } = await startImport(jsonLines(line, line), '--format', 'segment').ended
  const message = 'Ignored properties: the visitor is anonymous. Send a user id or an email.'
  expect(JSON.parse(stdout)).toMatchObject({ warned: 2, warnings: [{ lines: 2, first_lines: [1, 2], message }] })
  expect([exit, stderr]).toEqual([0, `cdsctl: 2 lines (1, 2): ${message}\n`])
})

test('Ctrl+C ends an import that waits for standard input, and leaves no copy of it', async () => {
  const copies = async () => (await readdir(temporary)).filter((name) => name.startsWith('cdsctl-'))
  const before = await copies()
  const waiting = startImport(null)
  await expect.poll(copies, { timeout: 60_000 }).toHaveLength(before.length + 1)
  waiting.process.kill('SIGINT')
  const { exit, stdout, stderr } = await waiting.ended
  expect([exit, JSON.parse(stdout).error.code, stderr]).toEqual([1, 'interrupted', ''])
  expect(await copies()).toEqual(before)
})

test('an import continues when its connection to PostgreSQL breaks while it writes a contact', async () => {
  const contact = await tenant.contact('broken@example.com')
  const { pool } = service.postgres
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const locked = 'SELECT pg_backend_pid() AS pid FROM contacts WHERE contact_id = $1 FOR UPDATE'
    const { pid } = (await client.query(locked, [contact])).rows[0]
    const line = { type: 'identify', userId: 'broken', traits: { email: 'broken@example.com', plan: 'pro' } }
    const command = startImport(jsonLines(line), '--format', 'segment')
    await breakBlocked(pool, pid)
    await client.query('ROLLBACK')
    const { exit, stdout } = await command.ended
    expect([exit, JSON.parse(stdout)]).toMatchObject([0, { read: 1, people: 1, failed: 0 }])
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
  expect((await tenant.call('GET', `/v1/contacts/${contact}`)).body.contact.properties).toMatchObject({ plan: 'pro' })
})
