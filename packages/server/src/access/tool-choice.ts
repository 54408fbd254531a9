import Type from 'typebox'
import { shown } from '../platform/characters.ts'
import { ServiceError } from '../platform/errors.ts'
import { WORD } from '../platform/personal.ts'

/** A tool of the MCP server, as a person chooses it. */
export interface OfferedTool {
  name: string
  title: string
  description: string
  /** The scopes without which it is not offered. */
  scopes: string[]
  /** Whether it changes nothing. */
  reads: boolean
}

export interface ToolChoiceServices {
  /** Every tool of the MCP server. */
  offeredTools: readonly OfferedTool[]
}

/** Allows every tool, including those that a later version adds. */
const ALL = 'all'
export const ALL_TOOLS: readonly string[] = [ALL]

const NAME_LENGTH_MAX = 100
const TOOLS_MAX = 200

/** The tools that a key or a connected application may use. */
export const Tools = Type.Array(Type.String({ maxLength: NAME_LENGTH_MAX, ...WORD }), {
  maxItems: TOOLS_MAX,
  description:
    'The tools that it may use over MCP: their names, `all` for every tool that the scopes allow, or an empty list for none.',
  examples: [['describe_schema', 'search_contacts']],
})

/** The option for `Tools` of a command. */
export const TOOLS_OPTION = {
  name: 'tools',
  hint: 'a,b|all',
  read: (text: string) =>
    text
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
}

/** The chosen tools as stored: in the order in which they are offered. @throws ServiceError 400 `unknown_tool` */
export function storedTools(chosen: readonly string[], offered: readonly OfferedTool[]): string[] {
  if (chosen.length === 1 && chosen[0] === ALL) return [...ALL_TOOLS]
  const names = offered.map(({ name }) => name)
  const unknown = chosen.find((name) => !names.includes(name))
  if (unknown === undefined) return names.filter((name) => chosen.includes(name))
  const message = `There is no tool ${shown(unknown)}. Use all by itself, or any of ${names.join(', ')}.`
  const details = [{ path: 'tools', message: `has the unknown name ${shown(unknown)}` }]
  throw new ServiceError(400, 'unknown_tool', message, { details })
}

/** Whether a choice allows a tool. */
export function allowsTool(tools: ReadonlySet<string>, name: string): boolean {
  return tools.has(ALL) || tools.has(name)
}

/** Whether a choice allows tools that another did not. */
export function allowsMore(chosen: readonly string[], before: readonly string[]): boolean {
  return !before.includes(ALL) && chosen.some((name) => !before.includes(name))
}
