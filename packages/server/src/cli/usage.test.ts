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

/** Runs a call that must not fail. @returns what it prints */
async function shown(...call: string[]): Promise<string> {
  const { exit, stdout, stderr } = await commandLine.run(call)
  expect.soft([exit, stderr], call.join(' ')).toEqual([0, ''])
  return stdout
}

test('every command shows its options when asked for help', async () => {
  for (const [name, { options, argument, summary }] of Object.entries(COMMANDS)) {
    const stdout = await shown(...name.split(' '), '--help')
    expect.soft(stdout, name).toContain(summary)
    expect.soft(stdout, name).toContain(`cdsctl ${name}`)
    for (const option of [...Object.keys(options), 'json', 'help'])
      expect.soft(stdout, name).toMatch(new RegExp(`\\n  --${option}\\b`))
    if (argument) expect.soft(stdout, name).toMatch(`\n  ${argument} `)
  }
})

/** Which calls are complete depends on no more of a command than this. */
const KINDS = Map.groupBy(Object.keys(COMMANDS), (name) => {
  const { argument, options, check } = COMMANDS[name] ?? { options: {} }
  const required = Object.values(options).some((option) => option.required)
  const words = name.includes(' ') ? 'two words' : 'one word'
  const parts = [words, argument && 'an argument', required && 'a required option', check && 'a check of its own']
  return parts.filter(Boolean).join(', ')
})

describe.each([...KINDS].map(([kind, [name = '']]) => [kind, name] as const))('a command with %s', (_kind, name) => {
  const { options, argument } = COMMANDS[name] ?? { options: {} }
  const words = name.split(' ')

  test('understands every way to ask for help', async () => {
    const asked = [['-h'], ['--help', '--tenant', 'x'], ['--tenant', 'x', '--nonsense', '-h']]
    if (argument === undefined) asked.push(['help'])
    const help = await shown(...words, '--help')
    for (const call of [...asked.map((each) => [...words, ...each]), ['help', ...words]])
      expect(await shown(...call), call.join(' ')).toBe(help)
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
    const stdout = await shown(word)
    for (const name of Object.keys(COMMANDS)) {
      const [group = '', verb = ''] = name.split(' ')
      expect(stdout).toMatch(new RegExp(`\n  ${group} .*\\b${verb}\\b`))
    }
  })

  test.each([['--version'], ['version']])('%s prints the version', async (word) => {
    const { exit, stdout } = await commandLine.run([word])
    expect([exit, stdout.trim()]).toEqual([0, manifest.version])
  })

  test('every group --help lists only its commands', async () => {
    for (const group of groups) {
      const stdout = `\n${await shown(group ?? '', '--help')}`
      const listed = Object.keys(COMMANDS).filter((name) => stdout.includes(`\n  cdsctl ${name} `))
      expect.soft(listed, group).toEqual(Object.keys(COMMANDS).filter((name) => name.startsWith(`${group} `)))
    }
  })

  test('a group understands every way to ask for help', async () => {
    const [group = ''] = groups
    const help = await shown(group, '--help')
    for (const call of [
      [group, '-h'],
      [group, 'help'],
      ['help', group],
    ])
      expect(await shown(...call)).toBe(help)
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
