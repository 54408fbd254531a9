import type { OfferedTool } from '../access/tool-choice.ts'
import type { Operation } from '../operations/declare.ts'
import { isReadingTool } from './hints.ts'
import { TOOLS } from './tools/all-tools.ts'

/** Every tool, as a person chooses it for a key or a connected application. */
export function offeredTools(operations: ReadonlyMap<string, Operation<object>>): OfferedTool[] {
  return TOOLS.map((tool) => {
    const scopes = tool.uses.flatMap((name) => {
      const scope = operations.get(name)?.scope
      return scope === undefined || scope === 'any-key' ? [] : [scope]
    })
    const { name, title, description } = tool
    return { name, title, description, scopes: [...new Set(scopes)], reads: isReadingTool(tool, operations) }
  })
}
