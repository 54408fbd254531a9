import { parseArgs } from 'node:util'
import { readConfig } from '../config.ts'
import { systemClock } from '../platform/time.ts'
import { explain, keepFilesPrivate } from '../run.ts'
import type { Command, Values } from './command.ts'
import { COMMANDS } from './commands.ts'
import { openSession } from './session.ts'

const WRONG_CALL = 2
const FAILED = 1

/** Does what a command line says, and tells about it. @returns the exit code. */
export async function runCommand(args: string[]): Promise<number> {
  const words = args.slice(0, 2).filter((word) => !word.startsWith('-'))
  const name = [words.join(' '), words[0] ?? ''].find((candidate) => Object.hasOwn(COMMANDS, candidate))
  const command = name === undefined ? undefined : COMMANDS[name]
  if (name === undefined || !command) {
    const help = args.length === 0 || args.includes('--help')
    if (help) console.log(usage())
    else console.error(`cdsctl: there is no command '${words.join(' ')}'\n\n${usage()}`)
    return help ? 0 : WRONG_CALL
  }
  const { values, problem } = parse(name, command, args.slice(name.split(' ').length))
  if (problem) {
    console.error(`cdsctl: ${problem}\n\n  ${usageOf(name, command)}`)
    return WRONG_CALL
  }
  return run(command, values)
}

function parse(name: string, command: Command, args: string[]) {
  try {
    const options = Object.fromEntries(
      Object.entries(command.options).map(([key, { type, multiple }]) => [key, { type, multiple: multiple === true }]),
    )
    const { argument } = command
    const { values, positionals } = parseArgs({
      args,
      options: { ...options, json: { type: 'boolean' } },
      allowPositionals: argument !== undefined,
    })
    const given: Values = { ...values, ...(argument ? { [argument.toLowerCase()]: positionals[0] } : {}) }
    const missing = Object.entries(command.options).find(([key, { required }]) => required && given[key] === undefined)
    if (missing) return { values: given, problem: `${name} needs --${missing[0]}` }
    const isArgumentMissing = argument !== undefined && (positionals.length !== 1 || positionals[0] === '')
    if (isArgumentMissing) return { values: given, problem: `${name} needs one ${argument}` }
    const problem = command.check?.(given) ?? null
    return { values: given, problem: problem === null ? null : `${name} ${problem}` }
  } catch (error) {
    return { values: {}, problem: error instanceof Error ? error.message : String(error) }
  }
}

async function run(command: Command, values: Values): Promise<number> {
  const json = values.json === true
  keepFilesPrivate()
  try {
    const session = await openSession(readConfig(process.env))
    try {
      const answer = await command.run(session, values, systemClock())
      console.log(json ? JSON.stringify(answer) : table(answer))
      return 0
    } finally {
      await session.close()
    }
  } catch (error) {
    const { code = 'failed' } = error as { code?: string }
    const message = code === 'failed' ? explain(error) : (error as Error).message
    if (json) console.log(JSON.stringify({ error: { code, message } }))
    else console.error(`cdsctl: ${message}`)
    return FAILED
  }
}

function table(answer: Record<string, unknown>): string {
  const width = Math.max(...Object.keys(answer).map((key) => key.length))
  return Object.entries(answer)
    .map(
      ([key, value]) =>
        `${key.padEnd(width)}  ${typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)}`,
    )
    .join('\n')
}

function usage(): string {
  const lines = Object.entries(COMMANDS).map(
    ([name, command]) => `  ${usageOf(name, command)}\n      ${command.summary}`,
  )
  return `The command line of the Customer Data Service; it works whether or not the service runs.\n\n${lines.join('\n')}\n\n--json answers with one JSON object.`
}

function usageOf(name: string, { argument, options }: Command): string {
  const parts = Object.entries(options).map(([key, { type, required, multiple, hint }]) => {
    const option = type === 'boolean' ? `--${key}` : `--${key} ${hint}`
    if (multiple) return `[${option}]…`
    return required ? option : `[${option}]`
  })
  return ['cdsctl', name, ...(argument ? [argument] : []), ...parts, '[--json]'].join(' ')
}
