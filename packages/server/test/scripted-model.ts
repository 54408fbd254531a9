import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What was asked of the model: its instructions, and the messages that followed. */
export interface Asked {
  model: string
  authorization: string | undefined
  messages: { role: string; content: string }[]
  body: Record<string, unknown>
}

export interface ScriptedAnswer {
  /** 200 when missing. */
  status?: number
  headers?: Record<string, string>
  /** What the model says; an object is said as JSON. */
  content?: unknown
  usage?: { prompt_tokens: number; completion_tokens: number }
  delayMs?: number
}

export interface ScriptedModel {
  /** Base address for `llm_config.base_url`. */
  url: string
  asked: Asked[]
  /** Answers every question from now on. */
  answer: (asked: Asked) => ScriptedAnswer
  close(): Promise<void>
}

/** A real OpenAI-compatible server on loopback whose model says what it is told to. */
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
    const { authorization } = request.headers
    const asked = { model: body.model, authorization, messages: body.messages, body }
    model.asked.push(asked)
    const { status = 200, headers = {}, content, usage, delayMs = 0 } = model.answer(asked)
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    const answer = {
      id: 'x',
      object: 'chat.completion',
      created: 0,
      model: body.model,
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1_000, completion_tokens: 100, ...usage },
    }
    response.end(JSON.stringify(status === 200 ? answer : { error: { message: 'scripted', type: 'x' } }))
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
