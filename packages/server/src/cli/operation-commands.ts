import Type from 'typebox'
import { OPERATIONS, type Services } from '../assembly/all-operations.ts'
import { optionsOf, readOptions } from '../operations/command-line.ts'
import type { Operation } from '../operations/declare.ts'
import { perform } from '../operations/perform.ts'
import { SCOPES } from '../operations/scopes.ts'
import { evenIfClosed } from '../platform/closed-tenants.ts'
import { openTenant } from '../platform/tenant.ts'
import { type CommandOnce, existingTenant, tenant } from './command.ts'
import { openServices } from './command-services.ts'
import { fileProblem, withContents } from './operation-input.ts'

/** The commands derived from operations. */
export const OPERATION_COMMANDS: Record<string, CommandOnce> = Object.fromEntries(
  OPERATIONS.map((operation) => [operation.command, commandOf(operation)]),
)

/** Anyone who can run a command has access to the databases, so a command may do everything. */
const OPERATOR = {
  actor: { kind: 'command_line' } as const,
  scopes: new Set<string>(SCOPES),
  requireScope: () => {},
  requireMatch: () => {},
  isGivenUp: () => false,
}

function commandOf(operation: Operation<Services>): CommandOnce {
  return {
    summary: operation.summary,
    options: { tenant, ...optionsOf(operation) },
    prints: Object.entries(operation.output).map(([name, schema]) => (Type.IsOptional(schema) ? `${name}?` : name)),
    check: (values) => fileProblem(operation, values),
    run: async (session, values, now) => {
      // In JSON, warnings are where a response of the API has them.
      const warnings: string[] = []
      const warn = (text: string) =>
        values.json === true ? void warnings.push(text) : console.error(`cdsctl: ${text}`)
      const input = readOptions(operation, await withContents(operation, values), warn)
      const caller = { ...OPERATOR, warn }
      const stores = operation.whileClosed ? evenIfClosed(session.stores) : session.stores
      const context = { ...caller, tenant: openTenant(stores, await existingTenant(stores, values)), now }
      const { services, close } = await openServices(session)
      try {
        const output = await perform(operation, { ...services, ...context }, input)
        return warnings.length === 0 ? output : { ...output, warnings }
      } finally {
        await close()
      }
    },
    failuresOf,
  }
}

/** Describes what failed in a call whose records succeed or fail one by one. */
function failuresOf({ results, failed }: Record<string, unknown>): string | null {
  if (!Array.isArray(results) || typeof failed !== 'number' || failed === 0) return null
  return `${failed} of ${results.length} failed. The results above say why.`
}
