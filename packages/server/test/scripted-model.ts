import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Body, chatCompletions, type Message, messages, responses } from './scripted-apis.ts'

/** A request to the model: its instructions and the messages after them. */
export interface Asked {
  path: string
  headers: IncomingHttpHeaders
  messages: Message[]
  body: Body
}

export interface ScriptedAnswer {
  /** Default: 200. */
  status?: number
  headers?: Record<string, string>
  /** The model's answer; an object is sent as JSON. */
  content?: unknown
  usage?: { prompt_tokens?: number; completion_tokens?: number; cached_tokens?: number }
  /** The raw response, instead of the API's. */
  raw?: string
  isCutOff?: boolean
  refuses?: boolean
  calls?: { name: string; arguments: object }[]
  delayMs?: number
  /** The response waits for this promise. */
  after?: Promise<unknown>
}

export interface ScriptedModel {
  /** Base address of every API: Chat Completions, Responses and Messages. */
  url: string
  asked: Asked[]
  /** Answers every later request. */
  answer: (asked: Asked) => ScriptedAnswer
  close(): Promise<void>
}

/** A local server with scripted answers, through every supported API. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const model: ScriptedModel = {
    url: '',
    asked: [],
    answer: () => ({ content: { reasoning: 'Nothing to do.', actions: [] } }),
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request))
    const { url: path = '', headers: sent } = request
    const api = path.endsWith('/messages') ? messages : path.endsWith('/responses') ? responses : chatCompletions
    const asked = { path, headers: sent, messages: api.messagesOf(body), body }
    model.asked.push(asked)
    const problem = api.problemOf(body, sent)
    const scripted = problem === null ? model.answer(asked) : { status: 400 }
    const { status = 200, headers = {}, content, usage, raw, delayMs = 0, after, ...how } = scripted
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    await after
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    const said = { model: body.model, text, usage: { prompt_tokens: 1_000, completion_tokens: 100, ...usage }, ...how }
    const answer = status === 200 ? api.answer(said, body) : api.error(status, problem ?? 'scripted')
    response.end(raw ?? JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  model.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return model
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
