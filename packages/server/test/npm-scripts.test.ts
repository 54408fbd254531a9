import { existsSync, readFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ADDRESS_FILE } from '../src/assembly/engines.ts'
import { openDataDirectory } from '../src/platform/embedded/data-directory.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded/postgres.ts'
import { serverUser } from '../src/platform/embedded/unprivileged-user.ts'
import { MAIN, openDirectory } from './process.ts'
import { runProgram } from './programs.ts'
import { until } from './webhooks.ts'

const RUNNING = /is running at \S+/
const FIRST_STEP = /creating the PostgreSQL database/
const CTRL_C = '\x03'

/** Every start but the first finds its databases, which need not be created again. */
let used: string
beforeAll(async () => {
  used = await openDirectory()
})
afterAll(() => rm(used, { recursive: true, force: true }))

async function newDirectory(): Promise<string> {
  const directory = await openDirectory()
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

const npmStart = (CDS_DATA_DIR: string, ready = RUNNING) => runProgram('npm', ['start'], { CDS_DATA_DIR }, ready)

/** Runs a command in a new terminal. */
const inTerminal = (command: string, CDS_DATA_DIR: string, ready = RUNNING) =>
  runProgram('script', ['-qfec', command, '/dev/null'], { CDS_DATA_DIR }, ready)

/** The service among a terminal's processes: how many shells lie between depends on which shell it runs. */
function serviceBelow(pid: number | undefined): number {
  if (readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `node\0${MAIN}\0`) return Number(pid)
  const child = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
  if (!(child > 0)) throw new Error(`${pid} does not have exactly one child`)
  return serviceBelow(child)
}

const expectGone = (pid: number) => until(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 60_000)

/** The directory can be used at once, and nothing has to be recovered or stopped. */
async function expectCleanEnd(directory: string): Promise<void> {
  expect(existsSync(join(directory, ADDRESS_FILE))).toBe(false)
  const lock = await openDataDirectory(directory, serverUser())
  const progress: string[] = []
  const server = await startEmbeddedPostgres({
    dataDirectory: directory,
    onProgress: (message) => progress.push(message),
  })
  await server.stop()
  await lock.release()
  expect(progress.join('\n')).not.toMatch(/left running|recover/)
  expect(await readFile(join(directory, 'postgres', 'postgres.log'), 'utf8')).not.toMatch(/not properly shut down/)
}

describe('npm start', () => {
  test('SIGTERM while the service starts ends it as soon as it has started', async () => {
    // The first test: it creates the databases that the others find.
    const { process: npm, ended, output } = await npmStart(used, FIRST_STEP)
    npm.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(output()).toMatch(/stopping: /)
    await expectCleanEnd(used)
  })

  test('SIGTERM for npm ends the service cleanly', async () => {
    const { process: npm, ended, output } = await npmStart(used)
    npm.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(output().match(/stopping: /g)).toHaveLength(1)
    await expectCleanEnd(used)
  })
})

test('the log of a start without a terminal is JSON, unless CDS_LOG asks for words', async () => {
  for (const [CDS_LOG, line] of [
    ['', /^\{"level":30,"time":\d+,"msg":"Server listening at/m],
    ['words', /^\d\d:\d\d:\d\d info {2}Server listening at/m],
  ] as const) {
    const { process: npm, ended, output } = await runProgram('npm', ['start'], { CDS_DATA_DIR: used, CDS_LOG }, RUNNING)
    npm.kill('SIGTERM')
    await ended
    expect(output()).toMatch(line)
  }
})

describe.skipIf(platform() !== 'linux')('npm start in a terminal', () => {
  test('prints words, unless CDS_LOG asks for JSON, and ends with where to go', async () => {
    const words = await inTerminal('npm start', used)
    await expect.poll(words.output).toMatch(/\n {2}Create the first account at http:\S+\s+$/)
    words.process.stdin.write(CTRL_C)
    await words.ended
    expect(words.output()).toMatch(/^\d\d:\d\d:\d\d info {2}Server listening at http\S+\r$/m)
    expect(words.output()).toContain(`Its data is in ${used}\r`)
    expect(words.output()).not.toContain('{"level"')
    const json = await inTerminal('CDS_LOG=json npm start', used)
    json.process.stdin.write(CTRL_C)
    await json.ended
    expect(json.output()).toMatch(/^\{"level":30,.*"Server listening/m)
  })

  test('Ctrl-C, which the terminal sends to npm and to the service, ends it cleanly and only once', async () => {
    const { process: terminal, ended, output } = await inTerminal('npm start', used)
    terminal.stdin.write(CTRL_C)
    await ended
    expect(output().match(/stopping: /g)).toHaveLength(1)
    expect(output()).not.toMatch(/^\s+at |Error|npm error/m)
    await expectCleanEnd(used)
  })

  test('Ctrl-C while the databases are being created ends the service as soon as it has started', async () => {
    const directory = await newDirectory()
    // Without npm, so that the exit code is the service's own.
    const { process: terminal, ended, output } = await inTerminal(`exec node ${MAIN}`, directory, FIRST_STEP)
    terminal.stdin.write(CTRL_C)
    expect([await ended, output()]).toEqual([0, expect.stringMatching(/stopping: /)])
    await expectCleanEnd(directory)
  })

  test('Ctrl-C for npm while the databases are being created leaves nothing running', async () => {
    const directory = await newDirectory()
    const { process: terminal, ended, output } = await inTerminal('npm start', directory, FIRST_STEP)
    const service = serviceBelow(terminal.pid)
    terminal.stdin.write(CTRL_C)
    await ended
    await expectGone(service)
    expect(output()).not.toMatch(/^\s+at |Error|npm error/m)
    await expectCleanEnd(directory)
  })

  test('the service ends cleanly with its terminal', async () => {
    const { process: terminal } = await inTerminal('npm start', used)
    const service = serviceBelow(terminal.pid)
    terminal.kill('SIGKILL')
    await expectGone(service)
    await expectCleanEnd(used)
  })
})
