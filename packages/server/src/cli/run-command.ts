import { parseArgs } from 'node:util'
import { keepFilesPrivate } from '../assembly/process.ts'
import { readConfig } from '../config.ts'
import { systemClock } from '../platform/time.ts'
import { VERSION } from '../platform/version.ts'
import type { Command, Values } from './command.ts'
import { COMMANDS } from './commands.ts'
import { printed } from './print.ts'
import { openSession } from './session.ts'
import { callOf, usageOfAll, usageOfCommand } from './usage.ts'

const SOME_FAILED = 3
const WRONG_CALL = 2
const FAILED = 1

/** Runs a command line and prints the result. @returns the exit code. */
export async function runCommand(args: string[]): Promise<number> {
  if (args[0] === '--version' || args[0] === 'version') {
    console.log(VERSION)
    return 0
  }
  const { words, name, command, wantsHelp } = read(args)
  const json = isGiven(args, '--json')
  const refuse = (problem: string, usage: string) => {
    if (json) console.log(JSON.stringify({ error: { code: 'wrong_call', message: `${problem}.` } }))
    else console.error(`cdsctl: ${problem}\n\n${usage}`)
    return WRONG_CALL
  }
  const [group = ''] = words
  if (!command) {
    const isGroup = Object.keys(COMMANDS).some((each) => each.startsWith(`${group} `))
    const usage = usageOfAll(isGroup ? group : undefined)
    if (!wantsHelp || words.length > (isGroup ? 1 : 0)) {
      const isIncomplete = words.length === (isGroup ? 1 : 0)
      return refuse(isIncomplete ? 'no command given' : `unknown command '${words.join(' ')}'`, usage)
    }
    console.log(usage)
    return 0
  }
  if (wantsHelp) {
    console.log(usageOfCommand(name, command))
    return 0
  }
  const { values, problem } = parse(name, command, args.slice(name.split(' ').length))
  return problem ? refuse(problem, `  ${callOf(name)}`) : run(command, values)
}

/** Finds the command, and whether help is wanted: `--help`, `-h` or `help` anywhere, or no arguments at all. */
function read(args: string[]) {
  const leading = upTo(args, (arg) => arg.startsWith('-'))
  const words = leading[0] === 'help' ? leading.slice(1) : leading
  const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((each) => Object.hasOwn(COMMANDS, each)) ?? ''
  const command = COMMANDS[name]
  // `help` may be the value of a positional argument, such as a file name.
  const asksInWords = leading[0] === 'help' || (leading.includes('help') && command?.argument === undefined)
  const wantsHelp = args.length === 0 || asksInWords || isGiven(args, '--help') || isGiven(args, '-h')
  return { words: words.filter((word) => word !== 'help').slice(0, 2), name, command, wantsHelp }
}

/** Whether an option appears before `--`. */
function isGiven(args: string[], option: string): boolean {
  return upTo(args, (arg) => arg === '--').includes(option)
}

function upTo(args: string[], isEnd: (arg: string) => boolean): string[] {
  const end = args.findIndex(isEnd)
  return end === -1 ? args : args.slice(0, end)
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
    if (missing) return { values: given, problem: `${name} requires --${missing[0]}` }
    const isArgumentMissing = argument !== undefined && (positionals.length !== 1 || positionals[0] === '')
    if (isArgumentMissing) return { values: given, problem: `${name} requires one ${argument}` }
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
    if ('follow' in command) {
      const interrupted = untilInterrupted()
      await command.follow(values, interrupted).catch((error: unknown) => {
        // Ctrl+C ends it also while it waits for its first response, which is an error there.
        if (!interrupted.aborted) throw error
      })
      return 0
    }
    const session = await openSession(readConfig(process.env), { mayCreate: command.createsData === true })
    try {
      const result = await command.run(session, values, systemClock())
      console.log(json ? JSON.stringify(result) : printed(result, process.stdout.columns))
      const failures = command.failuresOf?.(result) ?? null
      if (failures === null) return 0
      console.error(`cdsctl: ${failures}`)
      return SOME_FAILED
    } finally {
      await session.close()
    }
  } catch (error) {
    const { code = 'failed', message } = error as Error & { code?: string }
    if (json) console.log(JSON.stringify({ error: { code, message } }))
    else console.error(`cdsctl: ${message}`)
    return code === 'invalid_option' ? WRONG_CALL : FAILED
  }
}

/** Aborts at the first Ctrl+C; a second one ends the process. */
function untilInterrupted(): AbortSignal {
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ending.abort())
  return ending.signal
}
