/** A scripted answer of a model, independent of the API. */
export interface Said {
  model: string
  /** JSON if the model returns an object. */
  text: string
  usage: { prompt_tokens: number; completion_tokens: number; cached_tokens?: number }
  /** It stopped at the token limit. */
  isCutOff?: boolean
  /** It refuses to answer. */
  refuses?: boolean
  /** The tools that it calls instead of answering. */
  calls?: { name: string; arguments: object }[]
}

export interface Message {
  role: string
  content: string
}

/** One kind of API, as its public documentation describes it. */
export interface Api {
  /** What is wrong with a request, for which a real server would return 400. */
  problemOf(body: Body, headers: Record<string, unknown>): string | null
  messagesOf(body: Body): Message[]
  answer(said: Said, body: Body): object
  error(status: number, message: string): object
}

// biome-ignore lint/suspicious/noExplicitAny: tests read requests of every shape
export type Body = Record<string, any>

const textOf = (content: string | { text?: string }[] | null | undefined) =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('')

const messagesOf = (messages: { role: string; content: string | { text: string }[] }[]): Message[] =>
  messages.map(({ role, content }) => ({ role, content: textOf(content) }))

/** Chat Completions, which compatible servers support. */
export const chatCompletions: Api = {
  problemOf: () => null,
  messagesOf: (body) => messagesOf(body.messages),
  answer: ({ model, text, usage, isCutOff, calls }) => ({
    id: 'x',
    object: 'chat.completion',
    created: 0,
    model,
    choices: [
      calls
        ? { index: 0, message: callingMessage(calls), finish_reason: 'tool_calls' }
        : { index: 0, message: { role: 'assistant', content: text }, finish_reason: isCutOff ? 'length' : 'stop' },
    ],
    usage,
  }),
  error: (_status, message) => ({ error: { message, type: 'x' } }),
}

function callingMessage(calls: NonNullable<Said['calls']>) {
  const asked = calls.map(({ name, arguments: given }, index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }))
  return { role: 'assistant', content: null, tool_calls: asked }
}

/** OpenAI's Responses API. */
export const responses: Api = {
  problemOf: ({ model, input, text }, { authorization }) => {
    if (!String(authorization).startsWith('Bearer ')) return 'no key'
    if (typeof model !== 'string' || !Array.isArray(input)) return 'no model or input'
    const { type, name, schema } = text?.format ?? {}
    if (type !== 'json_schema' || !/^[\w-]{1,64}$/.test(name) || schema?.type !== 'object') return 'no text.format'
    return null
  },
  messagesOf: (body) =>
    (body.input as Body[]).map((item) => {
      if (item.type === 'function_call_output') return { role: 'tool', content: textOf(item.output) }
      return { role: item.role ?? 'assistant', content: textOf(item.content) }
    }),
  answer: ({ model, text, usage, isCutOff, refuses, calls }) => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    status: isCutOff ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isCutOff ? { reason: 'max_output_tokens' } : null,
    model,
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [] },
      ...(calls ?? []).map(({ name, arguments: given }, index) => ({
        type: 'function_call',
        id: `fc_${index}`,
        call_id: `call_${index}`,
        name,
        arguments: JSON.stringify(given),
        status: 'completed',
      })),
      // An answer that is cut off during reasoning has no message at all.
      ...(text === '' || calls
        ? []
        : [
            {
              type: 'message',
              id: 'msg_1',
              status: isCutOff ? 'incomplete' : 'completed',
              role: 'assistant',
              content: [refuses ? { type: 'refusal', refusal: text } : { type: 'output_text', text, annotations: [] }],
            },
          ]),
    ],
    usage: {
      input_tokens: usage.prompt_tokens,
      input_tokens_details: { cached_tokens: usage.cached_tokens ?? 0 },
      output_tokens: usage.completion_tokens,
      output_tokens_details: { reasoning_tokens: Math.floor(usage.completion_tokens / 2) },
      total_tokens: usage.prompt_tokens + usage.completion_tokens,
    },
  }),
  error: (status, message) => ({ error: { message, type: OPENAI_ERRORS[status] ?? 'server_error', code: null } }),
}

/** Anthropic's Messages API. */
export const messages: Api = {
  problemOf: (body, headers) => {
    if (headers['anthropic-version'] !== '2023-06-01') return 'anthropic-version: header is required'
    if (!Number.isInteger(body.max_tokens) || body.max_tokens < 1) return 'max_tokens: field required'
    const roles = (body.messages as Message[]).map(({ role }) => role)
    if (roles.some((role, index) => role !== (index % 2 === 0 ? 'user' : 'assistant'))) return 'messages: roles'
    const parts = (body.messages as Body[]).map(({ content }) => [content].flat() as Body[])
    const isTool = ({ type }: Body) => type === 'tool_use' || type === 'tool_result'
    if (parts.some((each) => !each.some(isTool) && textOf(each as never) === ''))
      return 'messages: text must be non-empty'
    if (parts.flat().some(isTool) && !body.tools?.length) return 'tools: required with tool_use'
    const used = parts.flat().filter(({ type }) => type === 'tool_use').length
    if (used !== parts.flat().filter(({ type }) => type === 'tool_result').length) return 'messages: tool_result'
    const schema = body.output_config?.format?.schema
    if (schema !== undefined && !isClosed(schema)) return "output_config: 'additionalProperties' must be false"
    if ((body.tools ?? []).some((tool: Body) => tool.input_schema?.type !== 'object')) return 'tools: input_schema'
    return null
  },
  messagesOf: ({ system, messages: rest }) => [
    { role: 'system', content: textOf(system) },
    ...(rest as Body[]).map(({ role, content }) => {
      const results = ([content].flat() as Body[]).filter(({ type }) => type === 'tool_result')
      if (results.length > 0) return { role: 'tool', content: results.map((each) => textOf(each.content)).join('') }
      return { role, content: textOf(content) }
    }),
  ],
  answer: ({ model, text, usage, isCutOff, refuses, calls }, body) => {
    const isAsked = body.tool_choice?.type === 'any' || body.tool_choice?.type === 'tool'
    const input = isAsked && !calls ? objectIn(text) : null
    const content = calls
      ? calls.map(({ name, arguments: given }, index) => {
          return { type: 'tool_use', id: `toolu_${body.messages.length}_${index}`, name, input: given }
        })
      : input
        ? [{ type: 'tool_use', id: 'toolu_1', name: body.tools.at(-1).name, input }]
        : text === ''
          ? []
          : [{ type: 'text', text }]
    const reason = refuses ? 'refusal' : isCutOff ? 'max_tokens' : input || calls ? 'tool_use' : 'end_turn'
    const cached = usage.cached_tokens ?? 0
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content: refuses ? [] : content,
      stop_reason: reason,
      stop_sequence: null,
      // This API counts cached input separately.
      usage: {
        input_tokens: usage.prompt_tokens - cached,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: cached,
        output_tokens: usage.completion_tokens,
        service_tier: 'standard',
      },
    }
  },
  error: (status, message) => ({
    type: 'error',
    error: { type: ANTHROPIC_ERRORS[status] ?? 'api_error', message },
    request_id: 'req_1',
  }),
}

const OPENAI_ERRORS: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'invalid_request_error',
  429: 'rate_limit_exceeded',
}

const ANTHROPIC_ERRORS: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** Whether every object of a schema forbids other properties, as structured outputs require. */
function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed)
  if (schema === null || typeof schema !== 'object') return true
  const { type, additionalProperties } = schema as Body
  return (type !== 'object' || additionalProperties === false) && Object.values(schema).every(isClosed)
}

function objectIn(text: string): object | null {
  try {
    const value = JSON.parse(text)
    return value !== null && typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
