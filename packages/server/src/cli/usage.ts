import type { Command } from './command.ts'
import { COMMANDS } from './commands.ts'

/** How all commands, or those of a group such as `tenant`, are called. */
export function usageOfAll(group?: string): string {
  const names = Object.keys(COMMANDS).filter((name) => group === undefined || name.startsWith(`${group} `))
  const lines = names.map((name) => `  ${callOf(name)}\n      ${COMMANDS[name]?.summary}`)
  const what = group === undefined ? COMMAND_LINE : `The commands of cdsctl ${group}.`
  return `${what}\n\n${lines.join('\n')}\n\n${JSON_OPTION} cdsctl COMMAND --help shows one command.`
}

const COMMAND_LINE = 'The command line of the Customer Data Service; it works whether or not the service runs.'
const JSON_OPTION = '--json answers with one JSON object.'

/** How one command is called, with every option on a line of its own. */
export function usageOfCommand(name: string, { summary, argument, options }: Command): string {
  const parts = Object.entries(options).map(([key, option]): [string, string] => {
    const often = option.multiple ? ', can be repeated' : ''
    return [spelled(key, option), option.required ? 'required' : `optional${often}`]
  })
  if (argument) parts.unshift([argument, 'required'])
  parts.push(['--json', 'optional; answers with one JSON object'], ['--help', 'shows this'])
  const width = Math.max(...parts.map(([part]) => part.length))
  const lines = parts.map(([part, what]) => `  ${part.padEnd(width)}  ${what}`)
  return `${summary}.\n\n  ${callOf(name)}\n\n${lines.join('\n')}`
}

/** A command as it is typed. */
export function callOf(name: string): string {
  const { argument, options } = COMMANDS[name] ?? { options: {} }
  const parts = Object.entries(options).map(([key, option]) => {
    const text = spelled(key, option)
    if (option.multiple) return `[${text}]…`
    return option.required ? text : `[${text}]`
  })
  return ['cdsctl', name, ...(argument ? [argument] : []), ...parts, '[--json]'].join(' ')
}

function spelled(key: string, { type, hint }: Command['options'][string]): string {
  return type === 'boolean' ? `--${key}` : `--${key} ${hint}`
}
