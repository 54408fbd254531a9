import { ensureServiceSecret } from '../access/service-secrets.ts'
import type { OfferedTool } from '../access/tool-choice.ts'
import type { Operation } from '../operations/declare.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { Stores } from '../platform/tenant.ts'
import { scopesNeeded, type ToolServices } from './call.ts'
import { isReadingTool } from './hints.ts'
import { createRedactor, createWithholder, redactionKeyOf } from './redaction/redactor.ts'
import { TOOLS } from './tools/all-tools.ts'

interface Dependencies extends Omit<ToolServices, 'operations' | 'openRedactor' | 'openWithholder'> {
  stores: Pick<Stores, 'database'>
  secrets: SecretBox
}

/** What tools need, and the secret of the MCP server, which all processes share. */
export function openToolServices(
  operations: readonly Operation<object>[],
  { stores, secrets, ...rest }: Dependencies,
): { toolServices: ToolServices; offeredTools: OfferedTool[]; mcpSecret(): Promise<string> } {
  let known: Promise<string> | undefined
  const mcpSecret = () => {
    known ??= ensureServiceSecret(stores.database, secrets, 'mcp', rest.clock()).catch((error) => {
      known = undefined
      throw error
    })
    return known
  }
  const toolServices: ToolServices = {
    ...rest,
    operations: new Map(operations.map((operation) => [operation.name, operation])),
    openRedactor: async (tenant) => createRedactor(tenant, redactionKeyOf(await mcpSecret(), tenant.id)),
    openWithholder: async (tenant) => createWithholder(tenant, redactionKeyOf(await mcpSecret(), tenant.id)),
  }
  return { toolServices, offeredTools: offeredTools(toolServices.operations), mcpSecret }
}

/** Every tool, as a person chooses it for a key or a connected application. */
function offeredTools(operations: ReadonlyMap<string, Operation<object>>): OfferedTool[] {
  return TOOLS.map((tool) => {
    const scopes = tool.uses.flatMap((name) => {
      const operation = operations.get(name)
      return operation === undefined ? [] : scopesNeeded(operation)
    })
    const { name, title, description } = tool
    return { name, title, description, scopes: [...new Set(scopes)], reads: isReadingTool(tool, operations) }
  })
}
