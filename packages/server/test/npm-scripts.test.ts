import { existsSync, readFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { ADDRESS_FILE } from '../src/assembly/engines.ts'
import { MAIN, openDirectory } from './process.ts'
import { runProgram } from './programs.ts'
import { until } from './webhooks.ts'

const RUNNING = /is running at \S+/
const FIRST_STEP = /creating the PostgreSQL database/
const CTRL_C = '\x03'

let directory: string
beforeEach(async () => {
  directory = await openDirectory()
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
})

const run = (file: string, args: string[], ready: RegExp) => runProgram(file, args, { CDS_DATA_DIR: directory }, ready)
const npmStart = (ready = RUNNING) => run('npm', ['start'], ready)

/** Runs a command in a new terminal. */
const inTerminal = (command: string, ready = RUNNING) => run('script', ['-qfec', command, '/dev/null'], ready)

/** The service among a terminal's processes: how many shells lie between depends on which shell it runs. */
function serviceBelow(pid: number | undefined): number {
  if (readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `node\0${MAIN}\0`) return Number(pid)
  const child = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
  if (!(child > 0)) throw new Error(`${pid} does not have exactly one child`)
  return serviceBelow(child)
}

const expectGone = (pid: number) => until(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 60_000)

/** The directory can be used at once, and nothing has to be recovered or stopped. */
async function expectCleanEnd(): Promise<void> {
  expect(existsSync(join(directory, ADDRESS_FILE))).toBe(false)
  const again = await npmStart()
  expect(again.output()).not.toMatch(/left running|recover|in use/)
  again.process.kill('SIGTERM')
  expect(await again.ended).toBe(0)
  expect(await readFile(join(directory, 'postgres', 'postgres.log'), 'utf8')).not.toMatch(/not properly shut down/)
}

describe('npm start', () => {
  test('SIGTERM for npm ends the service cleanly', async () => {
    const { process: npm, ended, output } = await npmStart()
    npm.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(output().match(/stopping: /g)).toHaveLength(1)
    await expectCleanEnd()
  })

  test('SIGTERM while the service starts ends it as soon as it has started', async () => {
    const { process: npm, ended, output } = await npmStart(FIRST_STEP)
    npm.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(output()).toMatch(/stopping: /)
    await expectCleanEnd()
  })
})

describe.skipIf(platform() !== 'linux')('npm start in a terminal', () => {
  test('Ctrl-C, which the terminal sends to npm and to the service, ends it cleanly and only once', async () => {
    const { process: terminal, ended, output } = await inTerminal('npm start')
    terminal.stdin.write(CTRL_C)
    await ended
    expect(output().match(/stopping: /g)).toHaveLength(1)
    expect(output()).not.toMatch(/^\s+at |Error|npm error/m)
    await expectCleanEnd()
  })

  test('Ctrl-C while the databases are being created ends the service as soon as it has started', async () => {
    // Without npm, so that the exit code is the service's own.
    const { process: terminal, ended, output } = await inTerminal(`exec node ${MAIN}`, FIRST_STEP)
    terminal.stdin.write(CTRL_C)
    expect([await ended, output()]).toEqual([0, expect.stringMatching(/stopping: /)])
    await expectCleanEnd()
  })

  test('Ctrl-C for npm while the databases are being created leaves nothing running', async () => {
    const { process: terminal, ended, output } = await inTerminal('npm start', FIRST_STEP)
    const service = serviceBelow(terminal.pid)
    terminal.stdin.write(CTRL_C)
    await ended
    await expectGone(service)
    expect(output()).not.toMatch(/^\s+at |Error|npm error/m)
    await expectCleanEnd()
  })

  test('the service ends cleanly with its terminal', async () => {
    const { process: terminal } = await inTerminal('npm start')
    const service = serviceBelow(terminal.pid)
    terminal.kill('SIGKILL')
    await expectGone(service)
    await expectCleanEnd()
  })
})
