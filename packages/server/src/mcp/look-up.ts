import type { Values } from '../operations/declare.ts'
import { ServiceError } from '../platform/errors.ts'
import { checkArguments, errorText, mayUse, type ToolServices } from './call.ts'
import { isReadingTool } from './hints.ts'
import type { Redactor } from './redaction/redactor.ts'
import { asMarkedText } from './results.ts'
import type { Tool, ToolCall } from './tool.ts'
import { TOOLS } from './tools/all-tools.ts'

/** The tools that change nothing, as far as scopes allow. A model of the service's own gets no others. */
export function toolsToLookUp(operations: ToolServices['operations'], scopes: ReadonlySet<string>): Tool[] {
  return TOOLS.filter((tool) => isReadingTool(tool, operations) && mayUse(tool, operations, scopes))
}

/**
 * Performs a call of a model. A call that the model can correct returns what is wrong.
 * @param tools those that the model was offered: it may name any.
 * @param charactersMax of the result
 */
export async function lookUp(
  tools: readonly Tool[],
  { call, redactor }: { call: ToolCall; redactor: Redactor },
  { name, input }: { name: string; input: unknown },
  charactersMax?: number,
): Promise<{ text: string; error: string | null }> {
  const tool = tools.find((each) => each.name === name)
  const failed = (error: string) => ({ text: error, error })
  if (!tool) return failed(`There is no tool ${name}.`)
  try {
    const result = await tool.run(call, checkArguments(tool, input))
    return { text: asMarkedText(result as Values, charactersMax), error: null }
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return failed(await errorText(error, redactor))
    throw error
  }
}

/** A schema as plain JSON, without TypeBox's own keys. */
export function plainSchema(schema: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema)) as Record<string, unknown>
}
