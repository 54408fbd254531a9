import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { CommandLine } from '../../test/command-line.ts'
import { openDirectory } from '../../test/process.ts'
import { COMMANDS } from './commands.ts'

let directory: string
let commandLine: CommandLine

beforeAll(async () => {
  directory = await openDirectory()
  // Reading settings or opening a database would fail.
  commandLine = new CommandLine({ CDS_DATA_DIR: join(directory, 'data'), DATABASE_URL: 'nonsense', PORT: 'nonsense' })
})
afterAll(async () => {
  await commandLine.close()
  expect(existsSync(join(directory, 'data'))).toBe(false)
  await rm(directory, { recursive: true, force: true })
})

const groups = [...new Set(Object.keys(COMMANDS).flatMap((name) => (name.includes(' ') ? name.split(' ')[0] : [])))]

describe.each(Object.entries(COMMANDS))('cdsctl %s', (name, { options, argument, summary }) => {
  const words = name.split(' ')

  test('shows its options when asked for help', async () => {
    const asked = [['--help'], ['-h'], ['--help', '--tenant', 'x'], ['--tenant', 'x', '--nonsense', '-h']].map(
      (help) => [...words, ...help],
    )
    if (argument === undefined) asked.push([...words, 'help'])
    for (const call of [...asked, ['help', ...words]]) {
      const { exit, stdout, stderr } = await commandLine.run(call)
      expect([exit, stderr], call.join(' ')).toEqual([0, ''])
      expect(stdout).toContain(summary)
      expect(stdout).toContain(`cdsctl ${name}`)
      for (const option of [...Object.keys(options), 'json', 'help'])
        expect(stdout).toMatch(new RegExp(`\\n  --${option}\\b`))
      if (argument) expect(stdout).toMatch(`\n  ${argument} `)
    }
  })

  test('rejects an invalid call with exit status 2 and a message', async () => {
    const missing = Object.entries(options).find(([, { required }]) => required)?.[0]
    const calls: [string[], string][] = [[['--nonsense'], '--nonsense']]
    if (missing) calls.push([[], `requires --${missing}`])
    if (argument) calls.push([['--tenant', 'x'], `requires one ${argument}`])
    for (const [given, problem] of calls) {
      const { exit, stdout, stderr } = await commandLine.run([...words, ...given])
      expect([exit, stderr]).toEqual([2, ''])
      const { error } = JSON.parse(stdout)
      expect(error).toEqual({ code: 'wrong_call', message: expect.stringContaining(problem) })
    }
  })
})

describe('cdsctl', () => {
  test.each([['--help'], ['-h'], ['help']])('%s lists every command by group', async (word) => {
    const { exit, stdout } = await commandLine.run([word])
    expect(exit).toBe(0)
    for (const name of Object.keys(COMMANDS)) {
      const [group = '', verb = ''] = name.split(' ')
      expect(stdout).toMatch(new RegExp(`\n  ${group} .*\\b${verb}\\b`))
    }
  })

  test.each([['--version'], ['version']])('%s prints the version', async (word) => {
    const { exit, stdout } = await commandLine.run([word])
    expect([exit, stdout.trim()]).toEqual([0, manifest.version])
  })

  test.each(groups)('%s --help lists only its commands', async (group = '') => {
    for (const call of [
      [group, '--help'],
      [group, '-h'],
      [group, 'help'],
      ['help', group],
    ]) {
      const { exit, stdout } = await commandLine.run(call)
      expect(exit).toBe(0)
      for (const name of Object.keys(COMMANDS)) {
        expect(`\n${stdout}`.includes(`\n  cdsctl ${name} `), name).toBe(name.startsWith(`${group} `))
      }
    }
  })

  test.each([
    [['nonsense'], "unknown command 'nonsense'"],
    [['nonsense', '--help'], "unknown command 'nonsense'"],
    [['help', 'nonsense'], "unknown command 'nonsense'"],
    [['tenant', 'nonsense'], "unknown command 'tenant nonsense'"],
    [['tenant', 'nonsense', '-h'], "unknown command 'tenant nonsense'"],
    [['tenant'], 'no command given'],
    [['constructor'], "unknown command 'constructor'"],
    [['--tenant', 'x'], 'no command given'],
  ])('%j is a wrong call', async (call, problem) => {
    const { exit, stdout } = await commandLine.run(call)
    expect([exit, JSON.parse(stdout).error]).toEqual([2, { code: 'wrong_call', message: `${problem}.` }])
  })
})
