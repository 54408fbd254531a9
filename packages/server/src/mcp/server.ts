import { createHash } from 'node:crypto'
import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  RequestStateCodec,
  ServerContext,
  StandardSchemaWithJSON,
} from '@modelcontextprotocol/server'
import type { TObject } from 'typebox'
import { allowsTool } from '../access/tool-choice.ts'
import type { Values } from '../operations/declare.ts'
import { ServiceError } from '../platform/errors.ts'
import { toServiceError } from '../platform/http/conventions.ts'
import type { Logger } from '../platform/log.ts'
import { VERSION } from '../platform/version.ts'
import { checkArguments, errorText, mayUse, openCall } from './call.ts'
import type { McpCaller } from './caller.ts'
import { hintsOf } from './hints.ts'
import { addPrompts, promptsFor } from './prompts.ts'
import { addResources, type ResourceServices } from './resources.ts'
import { asMarkedText, DATA_NOTICE, fitted } from './results.ts'
import type { Confirmation, Tool } from './tool.ts'
import { TOOLS } from './tools/all-tools.ts'

/** A hash of what a person confirms. */
export type ConfirmedState = { what: string }

export interface ServerDependencies extends ResourceServices {
  /** Signs what a client must send back with a person's confirmation. */
  stateCodec: RequestStateCodec<ConfirmedState>
  log: Logger
}

/** The lists are the same for every call of a connection until the service is updated or scopes change. */
const LISTS_TTL_MS = 5 * 60 * 1000

/** A server for one request of a caller, with the tools that its scopes allow. */
export function createMcpServer(dependencies: ServerDependencies, caller: McpCaller): McpServer {
  const { sdk, operations, stateCodec } = dependencies
  const usable = TOOLS.filter((tool) => mayUse(tool, operations, caller.scopes))
  const allowed = usable.filter(({ name }) => allowsTool(caller.tools, name))
  const names = new Set(allowed.map(({ name }) => name))
  const prompts = promptsFor(names)
  const lists = { ttlMs: LISTS_TTL_MS, cacheScope: 'private' as const }
  const server = new sdk.McpServer(
    { name: 'customer-data-service', title: 'Customer Data Service', version: VERSION },
    {
      instructions: instructionsFor(caller),
      // A caller's lists change only with the service or its scopes, so requests to listen for changes end at once. Open
      // connections would delay a shutdown.
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        ...(prompts.length > 0 ? { prompts: { listChanged: false } } : {}),
      },
      requestState: { verify: stateCodec.verify },
      cacheHints: {
        'tools/list': lists,
        'prompts/list': lists,
        'resources/list': lists,
        'resources/templates/list': lists,
        'server/discover': lists,
      },
    },
  )
  for (const tool of usable) addTool(server, tool, dependencies, caller)
  if (allowed.length < usable.length) {
    // A refused tool is not listed, but a call to it returns an error that says so.
    server.server.setRequestHandler('tools/list', () => ({ tools: allowed.map((tool) => listed(tool, operations)) }))
  }
  addResources(server, dependencies, caller, names)
  addPrompts(server, prompts)
  return server
}

function listed(tool: Tool, operations: ServerDependencies['operations']) {
  const { name, title, description, input, output } = tool
  const annotations = { title, ...hintsOf(tool, operations) }
  return { name, title, description, annotations, inputSchema: jsonOf(input), outputSchema: jsonOf(output) }
}

function instructionsFor({ redacts, scopes }: McpCaller): string {
  const hidden =
    'Personal data is hidden: a pseudonym such as email:019a… or firstname:019a… stands for the value of that contact. Use pseudonyms as they are, in searches, texts and filters; the service replaces them.'
  return [
    'Contacts, companies, website events, segments, conversations and agents of one workspace. Start with describe_schema, then search_contacts, aggregate or query_events.',
    DATA_NOTICE,
    ...(redacts ? [hidden] : []),
    `This connection has the scopes ${[...scopes].sort().join(', ')}; tools that need others are not listed.`,
  ].join('\n')
}

function addTool(server: McpServer, tool: Tool, dependencies: ServerDependencies, caller: McpCaller): void {
  const { name, title, description, input, output } = tool
  const annotations = { title, ...hintsOf(tool, dependencies.operations) }
  const schemas = { inputSchema: uncheckedSchema(input), outputSchema: uncheckedSchema(output) }
  const config = { title, description, annotations, ...schemas }
  server.registerTool(name, config, (args: unknown, context: ServerContext) =>
    handle(tool, args, context, dependencies, caller),
  )
}

async function handle(
  tool: Tool,
  args: unknown,
  context: ServerContext,
  dependencies: ServerDependencies,
  caller: McpCaller,
): Promise<CallToolResult | InputRequiredResult> {
  const { sdk, log } = dependencies
  const redactor = caller.redacts ? await dependencies.openRedactor(caller.tenant) : null
  try {
    if (!allowsTool(caller.tools, tool.name)) throw toolRefused(tool.name)
    const input = checkArguments(tool, args)
    const confirm = (question: string, what: unknown) => confirmBy(context, dependencies, question, what)
    const result = await tool.run(openCall(dependencies, caller, redactor, confirm), input)
    if (sdk.isInputRequiredResult(result)) return result
    const data = fitted(result as Values)
    return {
      content: [{ type: 'text', text: asMarkedText(data) }],
      structuredContent: { notice: DATA_NOTICE, ...data },
    }
  } catch (error) {
    const known = error instanceof ServiceError ? error : toServiceError(error as Error & { code: string })
    if (known.status >= 500) log.error({ err: error, tool: tool.name }, 'a call of an MCP tool failed')
    return { isError: true, content: [{ type: 'text', text: await errorText(known, redactor) }] }
  }
}

/** Asks the person through the client, or reads their answer if the client sent it with this call. */
async function confirmBy(
  context: ServerContext,
  { sdk, stateCodec }: ServerDependencies,
  question: string,
  what: unknown,
): Promise<Confirmation> {
  if (!canAsk(context)) throw cannotAsk()
  const hash = createHash('sha256').update(JSON.stringify(what)).digest('base64url')
  const { inputResponses } = context.mcpReq
  const response = sdk.inputResponse(inputResponses, 'confirm')
  const asked = context.mcpReq.requestState<ConfirmedState>()
  if (response.kind === 'elicit' && asked?.what === hash) {
    const accepted = sdk.acceptedContent<{ confirm: boolean }>(inputResponses, 'confirm')
    return { isConfirmed: accepted?.confirm === true }
  }
  const requestedSchema = {
    type: 'object' as const,
    properties: { confirm: { type: 'boolean' as const, title: 'Yes, do it' } },
    required: ['confirm'],
  }
  return {
    ask: sdk.inputRequired({
      inputRequests: { confirm: sdk.inputRequired.elicit({ message: question, requestedSchema }) },
      requestState: await stateCodec.mint({ what: hash }, context),
    }),
  }
}

const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** Whether the client declares in this request that it can show the person a form. Earlier revisions cannot declare it. */
function canAsk({ mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as { [CLIENT_CAPABILITIES]?: { elicitation?: object } } | undefined
  const elicitation = envelope?.[CLIENT_CAPABILITIES]?.elicitation
  return elicitation !== undefined && ('form' in elicitation || !('url' in elicitation))
}

function cannotAsk(): ServiceError {
  const message =
    'This client cannot ask the person to confirm, so nothing changed. Tell them to decide in the dashboard under Approvals, or to use a client that supports elicitation. A client of an earlier revision of MCP can ask through cdsctl mcp.'
  return new ServiceError(409, 'client_cannot_ask', message)
}

function toolRefused(name: string): ServiceError {
  const message = `This connection may not use the tool ${name}. A person can allow it in the dashboard: under Settings → Connected apps, or Settings → API keys.`
  return new ServiceError(403, 'tool_not_allowed', message)
}

/**
 * A schema for the library, which does not check values: the messages of `handle` about arguments say what to do, and
 * tests check results.
 */
function uncheckedSchema(schema: TObject): StandardSchemaWithJSON<Values, Values> {
  const json = jsonOf(schema)
  return {
    '~standard': {
      version: 1,
      vendor: 'typebox',
      validate: (value) => ({ value: value as Values }),
      jsonSchema: { input: () => json, output: () => json },
    },
  }
}

const jsonOfSchemas = new WeakMap<TObject, { type: 'object' }>()

/** A schema without TypeBox's own keys. Every request describes all tools, so each schema is converted once. */
function jsonOf(schema: TObject): { type: 'object' } {
  const json = jsonOfSchemas.get(schema) ?? (JSON.parse(JSON.stringify(schema)) as { type: 'object' })
  jsonOfSchemas.set(schema, json)
  return json
}
