import type { Command } from './command.ts'
import { COMMANDS } from './commands.ts'

const COMMAND_LINE = `cdsctl manages the Customer Data Service. It works whether or not the service runs.

Usage: cdsctl COMMAND [OPTIONS]`
const MORE = `cdsctl GROUP --help describes the commands of a group, and cdsctl COMMAND --help the options of one.
--json prints the result as JSON, and --version the version.`

/** Lists the commands of a group such as `tenant` with their summaries; without a group, all commands by group. */
export function usageOfAll(group?: string): string {
  return group === undefined ? usageOfGroups() : usageOfGroup(group)
}

function usageOfGroups(): string {
  const names = Object.keys(COMMANDS)
  const groups = Map.groupBy(names, (name) => name.split(' ')[0] ?? '')
  const lines = [...groups]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([group, members]): [string, string] => {
      const verbs = members.flatMap((name) => name.split(' ').slice(1))
      return [group, verbs.length === 0 ? (COMMANDS[group]?.summary ?? '') : verbs.toSorted(byVerb).join(', ')]
    })
  return `${COMMAND_LINE}\n\n${aligned(lines)}\n\n${MORE}`
}

/** The verbs that most things have come first. */
const COMMON_VERBS = ['delete', 'update', 'create', 'get', 'list']

function byVerb(one: string, other: string): number {
  return COMMON_VERBS.indexOf(other) - COMMON_VERBS.indexOf(one) || (one < other ? -1 : 1)
}

function usageOfGroup(group: string): string {
  const names = Object.keys(COMMANDS).filter((name) => name.startsWith(`${group} `))
  const lines = names.map((name): [string, string] => [`cdsctl ${name}`, COMMANDS[name]?.summary ?? ''])
  return `${aligned(lines)}\n\ncdsctl COMMAND --help describes the options of a command.`
}

/** The help of a command: its summary, synopsis and options. */
export function usageOfCommand(name: string, { summary, argument, options }: Command): string {
  const parts = Object.entries(options).map(
    ([key, { type, hint, required, multiple, description }]): [string, string] => {
      const notes = [required ? 'required' : '', multiple ? 'can be repeated' : ''].filter((note) => note !== '')
      const said = [notes.join(', '), description ?? ''].filter((part) => part !== '')
      return [type === 'boolean' ? `--${key}` : `--${key} ${hint}`, said.join('; ')]
    },
  )
  if (argument) parts.unshift([argument, 'required'])
  parts.push(['--json', 'print the result as JSON'], ['--help', 'print this help'])
  return `${summary}.\n\nUsage: ${callOf(name)}\n\n${aligned(parts)}`
}

/** The synopsis of a command: its argument and required options, and `[OPTIONS]` if there are others. */
export function callOf(name: string): string {
  const { argument, options } = COMMANDS[name] ?? { options: {} }
  const required = Object.entries(options).flatMap(([key, option]) =>
    option.required ? [`--${key} ${option.hint}`] : [],
  )
  const hasMore = required.length < Object.keys(options).length
  return ['cdsctl', name, ...(argument ? [argument] : []), ...required, ...(hasMore ? ['[OPTIONS]'] : [])].join(' ')
}

function aligned(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([part]) => part.length))
  return lines.map(([part, what]) => `  ${part.padEnd(width)}  ${what}`.trimEnd()).join('\n')
}
