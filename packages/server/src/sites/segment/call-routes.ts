import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../platform/http/app-types.ts'
import { storableValue } from '../../platform/http/body-parts.ts'
import { toServiceError } from '../../platform/http/conventions.ts'
import { BODY_ERRORS, errorResponses, type NamedError, ROUTE_ERRORS } from '../../platform/http/responses.ts'
import { hintsOf } from '../track/client-hints.ts'
import { sendingHost } from '../track/location.ts'
import { fieldsOf } from './fields.ts'
import { allowSdkPreflight } from './page.ts'
import { callOfQuery, PIXEL } from './pixel.ts'
import { type RecordDependencies, recordBatch, recordOne, type SdkSender } from './record.ts'
import {
  BATCH_PATHS,
  BatchBody,
  BEACON_PATH,
  CALL_EXAMPLES,
  CALL_PATHS,
  CallBody,
  RECORDED,
  SdkResponse,
  SHARED_PATH,
} from './requests.ts'
import { CALL_TYPES, type CallType } from './translate.ts'

const BODY_BYTES_MAX = 4_000 * 1024
const WITH_KEY = { access: 'public', credentials: 'write-key' } as const
const PREFLIGHT = { config: { access: 'public' }, schema: { hide: true } as object } as const
const DESCRIPTION =
  'Called by the SDKs with a write key, as the user name of Authorization: Basic or as `writeKey`. The body is JSON of any content type, and may be compressed. Ids that name nobody, such as `undefined`, are ignored with the warning `ignored_id`. Responds once the calls are durable.'

/** The errors of every route that is called with a write key. */
const SDK_ERRORS: readonly NamedError[] = [
  ...ROUTE_ERRORS,
  ...BODY_ERRORS,
  '400 validation_error',
  '401 invalid_write_key',
  '401 missing_write_key',
  '403 domain_not_allowed',
  '403 server_key_in_browser',
  '403 tenant_closed',
]
/** The errors that one call can also return, always with 400: see `recordOne`. A batch has warnings instead. */
const CALL_ERRORS: Readonly<Partial<Record<CallType, readonly NamedError[]>>> = {
  group: ['400 company_too_large', '400 unknown_contact'],
  alias: ['400 previous_id_taken'],
}

/** `POST /v1/track` and its like, which record one call. */
export function callRoutes(app: App, dependencies: RecordDependencies): void {
  for (const type of CALL_TYPES) {
    for (const [index, path] of CALL_PATHS[type].entries()) {
      app.options(path, PREFLIGHT, allowSdkPreflight)
      app.post(
        path,
        {
          config: WITH_KEY,
          bodyLimit: BODY_BYTES_MAX,
          ...(path === SHARED_PATH ? { constraints: { sdk: true } } : {}),
          schema: {
            operationId: `sdk${type.charAt(0).toUpperCase()}${type.slice(1)}`,
            summary: `Record a ${type} call of an SDK of Segment or RudderStack`,
            description: DESCRIPTION,
            tags: ['SDKs'],
            security: [],
            hide: index > 0 || path === SHARED_PATH,
            body: { ...CallBody, examples: [CALL_EXAMPLES[type]] },
            response: {
              200: SdkResponse,
              ...errorResponses([...SDK_ERRORS, '400 contact_too_large', ...(CALL_ERRORS[type] ?? [])]),
            },
          },
        },
        async (request) => {
          const sender = senderOf(request, request.body.sentAt)
          request.warnings.push(...(await recordOne(dependencies, sender, { sent: request.body, type })))
          return RECORDED
        },
      )
    }
  }
}

/** `POST /v1/batch`, which records up to 2,500 calls, and the beacon of pages that are being left. */
export function batchRoutes(app: App, dependencies: RecordDependencies): void {
  for (const path of BATCH_PATHS) {
    app.options(path, PREFLIGHT, allowSdkPreflight)
    app.post(
      path,
      {
        config: WITH_KEY,
        bodyLimit: BODY_BYTES_MAX,
        schema: {
          operationId: path === '/v1/import' ? 'sdkImport' : 'sdkBatch',
          summary: 'Record up to 2,500 calls of an SDK of Segment or RudderStack',
          description: `${DESCRIPTION} A call that is not valid does not affect the others: \`warnings\` names it.`,
          tags: ['SDKs'],
          security: [],
          hide: path === '/v1/b',
          body: BatchBody,
          response: { 200: SdkResponse, ...errorResponses(SDK_ERRORS) },
        },
      },
      async (request) => {
        const sender = senderOf(request, request.body.sentAt)
        request.warnings.push(...(await recordBatch(dependencies, sender, request.body)))
        return RECORDED
      },
    )
  }
  app.options(BEACON_PATH, PREFLIGHT, allowSdkPreflight)
  app.post(
    BEACON_PATH,
    {
      config: WITH_KEY,
      bodyLimit: BODY_BYTES_MAX,
      schema: { hide: true, body: BatchBody } as { body: typeof BatchBody },
    },
    async (request, reply) => {
      const sender = senderOf(request, request.body.sentAt)
      request.warnings.push(...(await recordBatch(dependencies, sender, request.body)))
      return reply.type('text/plain').send('OK')
    },
  )
}

/** `GET /pixel/v1/track` and `/page`: a call in the URL of an image, which is returned even if the call is rejected. */
export function pixelRoutes(app: App, dependencies: RecordDependencies): void {
  const send = (reply: FastifyReply) => reply.header('cache-control', 'no-store').type('image/gif').send(PIXEL)
  for (const type of ['track', 'page'] as const) {
    app.get(
      `/pixel/v1/${type}`,
      {
        config: WITH_KEY,
        schema: { hide: true } as object,
        errorHandler: (error, _request, reply) => send(reply.code(toServiceError(error).status)),
      },
      async (request, reply) => {
        const warn = (text: string) => void request.warnings.push(text)
        const sent = storableValue(callOfQuery(fieldsOf(request.query)), CallBody, warn)
        request.warnings.push(...(await recordOne(dependencies, senderOf(request, undefined), { sent, type })))
        return send(reply)
      },
    )
  }
}

/** Who sent the calls of a request. */
function senderOf({ keyedSource: source, headers, ip }: FastifyRequest, sentAt: unknown): SdkSender {
  if (source === null) throw new Error('The route has no source, because its config.credentials is not write-key.')
  const page = { host: sendingHost(headers), address: ip, hints: hintsOf(headers) }
  return { source, page, userAgent: headers['user-agent'] ?? '', sentAt }
}
