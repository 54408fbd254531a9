import type { ModelMessage, ToolSet } from 'ai'
import { loadSdk } from './model-usage.ts'
import type { LookUpTool, MadeCall, ModelView } from './model-view.ts'
import { storable } from './reasoner.ts'

/** Of the arguments that a run keeps, as JSON. */
const ARGUMENTS_LENGTH_MAX = 2_000
const ERROR_LENGTH_MAX = 500
const NAME_LENGTH_MAX = 100

/** A call as the SDK reports it; `input` is whatever the model wrote. */
export interface AskedCall {
  toolCallId: string
  toolName: string
  input: unknown
}

/** The tools as the SDK sends them. It calls none itself. */
export async function describeTools(tools: readonly LookUpTool[]): Promise<ToolSet> {
  const { jsonSchema, tool } = await loadSdk()
  return Object.fromEntries(
    tools.map(({ name, description, input }) => [name, tool({ description, inputSchema: jsonSchema(input) })]),
  )
}

/**
 * Performs the calls of one answer, one after another, and adds them to those made. A call beyond `left` is refused, so that
 * the model must answer.
 * @returns the message with a result for each call.
 */
export async function performCalls(
  view: ModelView,
  asked: readonly AskedCall[],
  made: MadeCall[],
  { left, signal }: { left: number; signal: AbortSignal },
): Promise<ModelMessage> {
  const content: Extract<ModelMessage, { role: 'tool' }>['content'] = []
  for (const [index, { toolCallId, toolName, input }] of asked.entries()) {
    signal.throwIfAborted()
    let value = NO_CALLS_LEFT
    if (index < left) {
      const given = isObject(input) ? input : {}
      const name = storable(toolName.slice(0, NAME_LENGTH_MAX))
      const { text, error } = await view.lookUp(toolName, given)
      value = text
      made.push({
        tool: name,
        title: view.tools.find((tool) => tool.name === toolName)?.title ?? name,
        arguments: shortArguments(view.restore(given)),
        characters: text.length,
        error: error && storable(view.restore(error).slice(0, ERROR_LENGTH_MAX)),
        at: new Date().toISOString(),
      })
    }
    content.push({ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value } })
  }
  return { role: 'tool', content }
}

const NO_CALLS_LEFT = 'No calls are left. Answer with what you know.'

/** What a model sent may be of any size, and may contain characters that PostgreSQL cannot store. */
function shortArguments(given: Record<string, unknown>): Record<string, unknown> {
  const json = storable(JSON.stringify(given).replaceAll('\\u0000', '\\ufffd'))
  if (json.length > ARGUMENTS_LENGTH_MAX)
    return { shortened: `${json.slice(0, ARGUMENTS_LENGTH_MAX / 2).toWellFormed()}…` }
  return JSON.parse(json.replace(LONE_SURROGATE, '\\ufffd')) as Record<string, unknown>
}

/** Half of a surrogate pair, as `JSON.stringify` escapes it. */
const LONE_SURROGATE = /\\ud[89a-f][0-9a-f]{2}/gi

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** What a tool returned, as values: the text that the model read has it within a tag, in which `<` is escaped. */
export function dataOf({ content }: ModelMessage): unknown[] {
  if (typeof content === 'string') return []
  return content.flatMap((part) => {
    if (part.type !== 'tool-result' || part.output.type !== 'text') return []
    const [, json] = /<customer_data>\n(.*)\n<\/customer_data>/s.exec(part.output.value) ?? []
    if (json === undefined) return []
    return [JSON.parse(json) as unknown]
  })
}
