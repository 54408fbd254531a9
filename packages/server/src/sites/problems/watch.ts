import type { FastifyRequest } from 'fastify'
import { HOST_LENGTH_MAX } from '../../platform/characters.ts'
import type { App } from '../../platform/http/app-types.ts'
import { toServiceError } from '../../platform/http/conventions.ts'
import { ID_LENGTH_MAX } from '../../platform/ids.ts'
import { isObject } from '../../platform/is-object.ts'
import { sendingHost } from '../track/location.ts'
import { REFUSED_CODE } from './list.ts'
import type { Noted, ProblemRecorder, Refused } from './record.ts'

const BODY_CHARACTERS = 2_000
const MESSAGES_MAX = 10
const MESSAGE_CHARACTERS = 500
const TEXT_CHARACTERS = 300

/** Who sees the problems of a request. */
export interface Attribution {
  tenantId: string | null
  /** Whether the tenant has verified the page's domain, or the API key is its own. Only then does it see what was sent. */
  isVerified: boolean
}

/**
 * Notes the requests of a scope of routes that are rejected or accepted with warnings.
 * @param attribute returns null for others.
 */
export function watchForProblems(
  app: App,
  problems: ProblemRecorder,
  attribute: (request: FastifyRequest) => Attribution | null,
): void {
  const note = (request: FastifyRequest, status: number, code: string, messages: readonly string[]) => {
    const attribution = attribute(request)
    if (!attribution) return
    const { tenantId, isVerified } = attribution
    const host = sendingHost(request.headers)
    if (code === REFUSED_CODE && host !== null) {
      problems.refuse(refusalOf(request, { tenantId, host, status, messages }))
      return
    }
    if (!problems.admit(tenantId, host)) return
    const sent = isVerified ? sentIn(request) : { visitor_id: null, body: null }
    problems.note({
      tenantId,
      method: request.method,
      path: storable(request.url.split('?')[0] ?? '', TEXT_CHARACTERS),
      status,
      code,
      messages: messages.slice(0, MESSAGES_MAX).map((message) => storable(message, MESSAGE_CHARACTERS)),
      page_host: host === null ? null : storable(host, TEXT_CHARACTERS),
      user_agent: storable(request.headers['user-agent'] ?? '', TEXT_CHARACTERS),
      ...sent,
    })
  }
  app.addHook('onError', async (request, _reply, error) => {
    const { status, code, message, details = [] } = toServiceError(error)
    // Failures of the service concern the operator, who finds them in the log.
    if (status >= 500) return
    const texts = details.map((detail) => (detail.path === '' ? detail.message : `${detail.path}: ${detail.message}`))
    note(request, status, code, texts.length > 0 ? texts : [message])
  })
  app.addHook('onResponse', async (request, reply) => {
    if (reply.statusCode === 200 && request.warnings.length > 0) note(request, 200, 'warnings', request.warnings)
  })
}

/** What is noted of a request that was refused because of its page's host. */
export function refusalOf(
  request: FastifyRequest,
  { tenantId, host, status, messages }: Pick<Refused, 'tenantId' | 'host' | 'status'> & { messages: readonly string[] },
): Refused {
  return {
    tenantId,
    host: storable(host, HOST_LENGTH_MAX),
    method: request.method,
    path: storable(request.url.split('?')[0] ?? '', TEXT_CHARACTERS),
    status,
    messages: messages.slice(0, MESSAGES_MAX).map((message) => storable(message, MESSAGE_CHARACTERS)),
  }
}

/** Requests that servers send instead of pages. The events debugger shows why they were rejected. */
const SENT_BY_SERVERS = ['/v1/contacts', '/v1/identify', '/v1/sources/:source/contacts']

/** Notes the requests with an API key that write contacts and are rejected. */
export function watchServers(app: App, problems: ProblemRecorder): void {
  watchForProblems(app, problems, ({ apiKey, method, routeOptions: { url = '' } }) =>
    apiKey && method === 'POST' && SENT_BY_SERVERS.includes(url)
      ? { tenantId: apiKey.tenantId, isVerified: true }
      : null,
  )
}

function sentIn({ body }: FastifyRequest): Pick<Noted, 'visitor_id' | 'body'> {
  if (body === undefined || body === null) return { visitor_id: null, body: null }
  const { visitor_id: visitorId } = body as { visitor_id?: unknown }
  return {
    visitor_id: typeof visitorId === 'string' ? storable(visitorId, ID_LENGTH_MAX) : null,
    body: storable(JSON.stringify(body, withoutAddress), BODY_CHARACTERS),
  }
}

/** For JSON.stringify: leaves out the person's address, which SDKs send as `context.ip`. */
function withoutAddress(key: string, value: unknown): unknown {
  if (key !== 'context' || !isObject(value)) return value
  const { ip: _, ...others } = value
  return others
}

/** A text that PostgreSQL stores: short, well-formed and without NUL. */
function storable(text: string, charactersMax: number): string {
  return text.slice(0, charactersMax).replaceAll('\0', '').toWellFormed()
}
