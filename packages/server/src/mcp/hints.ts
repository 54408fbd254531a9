import { isReading, type Operation, routeOf } from '../operations/declare.ts'
import type { Tool } from './tool.ts'

/** Whether a tool changes nothing. */
export function isReadingTool(
  { uses }: Pick<Tool, 'uses'>,
  operations: ReadonlyMap<string, Operation<object>>,
): boolean {
  return changesOf(uses, operations).length === 0
}

/** Hints for clients, which follow from the methods of the operations. */
export function hintsOf({ uses, isOutward = false }: Tool, operations: ReadonlyMap<string, Operation<object>>) {
  const methods = changesOf(uses, operations)
  const readOnlyHint = methods.length === 0
  return {
    readOnlyHint,
    destructiveHint: !readOnlyHint && (isOutward || methods.some((method) => method !== 'POST')),
    idempotentHint: !methods.includes('POST'),
    openWorldHint: isOutward,
  }
}

/** The methods of the operations that change something. */
function changesOf(uses: readonly string[], operations: ReadonlyMap<string, Operation<object>>): string[] {
  return uses.flatMap((name) => {
    const operation = operations.get(name)
    return operation === undefined || isReading(operation) ? [] : [routeOf(operation).method]
  })
}
