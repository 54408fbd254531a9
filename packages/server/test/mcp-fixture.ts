import type { CallToolResult, InputRequiredResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import type { ServerDependencies } from '../src/mcp/server.ts'

type Parts = Pick<ServerDependencies, 'sdk' | 'stateCodec'>

/** One pixel, and a tenth of a second of silence. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

type Schema = Record<string, unknown>
type ToolResult = CallToolResult | InputRequiredResult

const objectOf = (properties: Record<string, Schema>, required = Object.keys(properties)) => ({
  type: 'object' as const,
  properties,
  required,
})
const text = (words: string): CallToolResult => ({ content: [{ type: 'text', text: words }] })
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' }
const embedded = (uri: string, mimeType: string, content: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: content },
})
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
type Envelope = { [CAPABILITIES]?: Record<string, object> }
const pause = () => new Promise((resolve) => setTimeout(resolve, 20))

/** Adds the tools, resources and prompts that the scenarios of the conformance suite call by name. */
export function addConformanceFixture(server: McpServer, parts: Parts): void {
  const { sdk } = parts
  addContentTools(server, sdk)
  addNotifyingTools(server, sdk)
  addAskingTools(server, parts)
  addFixtureResources(server, sdk)
  addFixturePrompts(server, sdk)
}

/** Registers a tool with a schema in JSON, which is published as it stands. */
function toolsOf(server: McpServer, sdk: Parts['sdk']) {
  return (
    name: string,
    run: (args: Record<string, unknown>, context: ServerContext) => Promise<ToolResult> | ToolResult,
    schema: Schema = objectOf({}),
  ) =>
    server.registerTool(
      name,
      { description: `A tool of the conformance suite: ${name}`, inputSchema: sdk.fromJsonSchema(schema) },
      (args, context) => run(args as Record<string, unknown>, context),
    )
}

function addContentTools(server: McpServer, sdk: Parts['sdk']): void {
  const add = toolsOf(server, sdk)
  add('test_simple_text', () => text('This is a simple text response for testing.'))
  add('test_image_content', () => ({ content: [image] }))
  add('test_audio_content', () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }))
  const plain = embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')
  add('test_embedded_resource', () => ({ content: [plain] }))
  const json = embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}')
  add('test_multiple_content_types', () => ({
    content: [{ type: 'text', text: 'Multiple content types test:' }, image, json],
  }))
  add('test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  add('json_schema_2020_12_tool', (args) => text(JSON.stringify(args)), {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  })
  const region = { type: 'string', 'x-mcp-header': 'Region' }
  add('test_x_mcp_header', ({ region: sent }) => text(`region: ${sent}`), objectOf({ region }, []))
}

function addNotifyingTools(server: McpServer, sdk: Parts['sdk']): void {
  // The service itself sends no logs, so only the fixture says that it does.
  server.server.registerCapabilities({ logging: {} })
  const add = toolsOf(server, sdk)
  add('test_tool_with_progress', async (_args, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      const params = { progressToken: progressToken as string, progress, total: 100 }
      await mcpReq.notify({ method: 'notifications/progress', params })
      await pause()
    }
    return text('done')
  })
  add('test_tool_with_logging', async (_args, { mcpReq }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
      await pause()
    }
    return text('done')
  })
  add('test_logging_tool', async (_args, { mcpReq }) => {
    await mcpReq.log('info', 'for clients that ask for logs')
    return text('logged')
  })
  add('test_streaming_elicitation', () => text('nothing was asked'))
}

/** Tools that ask through the client, by returning what they need (2026-07-28). */
function addAskingTools(server: McpServer, { sdk, stateCodec }: Parts): void {
  const add = toolsOf(server, sdk)
  const { inputRequired, acceptedContent } = sdk
  const askFor = (message: string, name: string, type: 'string' | 'boolean' = 'string') =>
    inputRequired.elicit({ message, requestedSchema: objectOf({ [name]: { type } }) as never })
  const sample = (words: string, maxTokens = 100) =>
    inputRequired.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: words } }],
      maxTokens,
    })
  const askName = () => askFor('What is your name?', 'name')
  /** Signed and verified as the state of the service's own tools. */
  const mint = (context: ServerContext, what: string) => stateCodec.mint({ what }, context)
  const stateOf = ({ mcpReq }: ServerContext) => mcpReq.requestState<{ what: string }>()?.what
  const said = (answer: unknown) => (answer as { content?: { text?: string } } | undefined)?.content?.text

  add('test_missing_capability', (_args, { mcpReq }) =>
    mcpReq.inputResponses?.answer
      ? text('sampled')
      : inputRequired({ inputRequests: { answer: sample('Say one word.') } }),
  )
  add('test_input_required_result_elicitation', (_args, { mcpReq }) => {
    const name = acceptedContent<{ name: unknown }>(mcpReq.inputResponses, 'user_name')?.name
    if (typeof name !== 'string') return inputRequired({ inputRequests: { user_name: askName() } })
    return text(`Hello, ${name}!`)
  })
  add('test_input_required_result_sampling', (_args, { mcpReq }) => {
    const answer = said(mcpReq.inputResponses?.capital_question)
    if (answer !== undefined) return text(`Sampling response: ${answer}`)
    return inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?') } })
  })
  add('test_input_required_result_list_roots', (_args, { mcpReq }) => {
    const { roots } = (mcpReq.inputResponses?.client_roots ?? {}) as { roots?: { uri: string }[] }
    if (roots === undefined) return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
    return text(`Roots: ${roots.map(({ uri }) => uri).join(', ')}`)
  })
  const confirming = (name: string, done: string) =>
    add(name, async (_args, context) => {
      const answered = acceptedContent(context.mcpReq.inputResponses, 'confirm') !== undefined
      if (answered && stateOf(context) === name) return text(done)
      const inputRequests = { confirm: askFor('Please confirm', 'ok', 'boolean') }
      return inputRequired({ inputRequests, requestState: await mint(context, name) })
    })
  confirming('test_input_required_result_request_state', 'state-ok')
  confirming('test_input_required_result_tampered_state', 'state-ok')
  add('test_input_required_result_multiple_inputs', async (_args, context) => {
    const { inputResponses } = context.mcpReq
    const name = acceptedContent<{ name: string }>(inputResponses, 'user_name')?.name
    if (name && inputResponses?.greeting && inputResponses.client_roots) {
      return text(`${said(inputResponses.greeting)} ${name}`)
    }
    const greeting = sample('Generate a greeting', 50)
    return inputRequired({
      inputRequests: { user_name: askName(), greeting, client_roots: inputRequired.listRoots() },
      requestState: await mint(context, 'asked'),
    })
  })
  add('test_input_required_result_multi_round', async (_args, context) => {
    const { inputResponses } = context.mcpReq
    const state = stateOf(context)
    if (state === undefined) {
      const step1 = askFor('Step 1: What is your name?', 'name')
      return inputRequired({ inputRequests: { step1 }, requestState: await mint(context, 'step1') })
    }
    if (state === 'step1') {
      const name = acceptedContent<{ name: string }>(inputResponses, 'step1')?.name ?? ''
      const step2 = askFor('Step 2: What is your favorite color?', 'color')
      return inputRequired({ inputRequests: { step2 }, requestState: await mint(context, name) })
    }
    return text(`${state} likes ${acceptedContent<{ color: string }>(inputResponses, 'step2')?.color}`)
  })
  add('test_input_required_result_capabilities', (_args, { mcpReq }) => {
    if (mcpReq.inputResponses) return text('answered')
    const can = (mcpReq.envelope as Envelope | undefined)?.[CAPABILITIES]
    const inputRequests = {
      ...(can?.elicitation ? { user_name: askName() } : {}),
      ...(can?.sampling ? { greeting: sample('Generate a greeting', 50) } : {}),
      ...(can?.roots ? { client_roots: inputRequired.listRoots() } : {}),
    }
    return Object.keys(inputRequests).length === 0 ? text('nothing to ask') : inputRequired({ inputRequests })
  })
}

function addFixtureResources(server: McpServer, sdk: Parts['sdk']): void {
  const resources = {
    'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
    'test://static-binary': { mimeType: 'image/png', blob: PNG },
    'test://watched-resource': { mimeType: 'text/plain', text: 'Watched' },
  }
  for (const [uri, { mimeType, ...content }] of Object.entries(resources)) {
    const name = uri.slice('test://'.length)
    server.registerResource(
      name,
      uri,
      { description: `A resource of the conformance suite: ${name}`, mimeType },
      () => ({
        contents: [{ uri, mimeType, ...(content as { text: string }) }],
      }),
    )
  }
  server.registerResource(
    'template',
    new sdk.ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'A template of the conformance suite', mimeType: 'application/json' },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  )
}

function addFixturePrompts(server: McpServer, sdk: Parts['sdk']): void {
  const say = (words: string) => ({ role: 'user' as const, content: { type: 'text' as const, text: words } })
  const about = (name: string) => ({ description: `A prompt of the conformance suite: ${name}` })
  const argsOf = (...names: string[]) =>
    sdk.fromJsonSchema<Record<string, string>>(
      objectOf(Object.fromEntries(names.map((name) => [name, { type: 'string' }]))),
    )
  server.registerPrompt('test_simple_prompt', about('simple'), () => ({
    messages: [say('This is a simple prompt for testing.')],
  }))
  const withArguments = { ...about('arguments'), argsSchema: argsOf('arg1', 'arg2') }
  server.registerPrompt('test_prompt_with_arguments', withArguments, ({ arg1, arg2 }) => ({
    messages: [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  }))
  const withResource = { ...about('embedded resource'), argsSchema: argsOf('resourceUri') }
  server.registerPrompt('test_prompt_with_embedded_resource', withResource, ({ resourceUri = '' }) => ({
    messages: [
      { role: 'user', content: embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.') },
      say('Please process the embedded resource above.'),
    ],
  }))
  server.registerPrompt('test_prompt_with_image', about('image'), () => ({
    messages: [{ role: 'user', content: image }, say('Please analyze the image above.')],
  }))
  // Without arguments, a prompt is called with the context alone, which the types of the library leave out.
  const askFirst = (context: unknown) => {
    const { inputResponses } = (context as ServerContext).mcpReq
    const answer = sdk.acceptedContent<{ context: string }>(inputResponses, 'user_context')
    if (answer) return { messages: [say(`Use the following context: ${answer.context}`)] }
    const requestedSchema = objectOf({ context: { type: 'string' } }) as never
    const user_context = sdk.inputRequired.elicit({ message: 'What context should the prompt use?', requestedSchema })
    return sdk.inputRequired({ inputRequests: { user_context } })
  }
  server.registerPrompt('test_input_required_result_prompt', about('asking'), askFirst)
}
