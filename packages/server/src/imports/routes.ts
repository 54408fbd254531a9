import type { Readable } from 'node:stream'
import Type from 'typebox'
import type { Config } from '../config.ts'
import { audit } from '../operations/audit.ts'
import { idInPath } from '../operations/declare.ts'
import { CALLER_ERRORS, EVERYWHERE, IDEMPOTENCY_ERRORS } from '../operations/errors.ts'
import { refuseIfMatch } from '../operations/etag.ts'
import { describeFurtherScopes, scopesAlways } from '../operations/further-scopes.ts'
import { IdempotencyKey, IdempotentReplayed } from '../operations/http.ts'
import { callerOf, idempotencyKeyOf } from '../operations/idempotency.ts'
import { requireScopeOf } from '../operations/scopes.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { ServiceError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { sendCsv } from '../platform/http/csv.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { decoderOf } from '../platform/http/read-body.ts'
import {
  errorResponses,
  fileResponse,
  type NamedError,
  pathId,
  ROUTE_ERRORS,
  success,
} from '../platform/http/responses.ts'
import { type Clock, HOUR_SECONDS } from '../platform/time.ts'
import { createImport } from './create-import.ts'
import { failedRowsFile } from './failed-rows.ts'
import { FILE_BYTES_MAX, importDirectory } from './files.ts'
import { Import } from './import-object.ts'
import { entryOf } from './operations.ts'

/** Seconds for a whole upload. */
const UPLOAD_SECONDS_MAX = HOUR_SECONDS

interface Dependencies {
  clock: Clock
  config: Pick<Config, 'dataDirectory'>
  secrets: SecretBox
  rateLimiter: Pick<RateLimiter, 'checkAudited'>
}

const UploadQuery = Type.Object({
  file_name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Name of the file, for the list of imports.' }),
  ),
})

const UPLOAD_ERRORS: readonly NamedError[] = [
  ...CALLER_ERRORS,
  ...ROUTE_ERRORS,
  ...IDEMPOTENCY_ERRORS,
  '400 bad_request',
  '400 if_match_not_supported',
  '400 invalid_content_encoding',
  '400 invalid_file',
  '400 validation_error',
  '409 import_storage_full',
  '409 too_many_imports',
  '413 body_too_large',
  '415 unsupported_content_encoding',
  '415 unsupported_media_type',
  '429 too_many_uploads',
]

/** The rows are contacts as someone uploaded them. */
const FAILED_ROWS = { also: [{ scopes: ['contacts:read'] as const }] }

/** The files of imports, which are not operations, because they are streamed. */
export async function importFileRoutes(app: App, dependencies: Dependencies): Promise<void> {
  const directory = importDirectory(dependencies.config.dataDirectory)
  app.removeAllContentTypeParsers()
  // Only the handler reads the body.
  app.addContentTypeParser(['text/csv', 'text/tab-separated-values'], async (_: unknown, body: Readable) => body)
  app.addContentTypeParser('*', async () => {
    throw new ServiceError(415, 'unsupported_media_type', 'Send the file as Content-Type: text/csv.')
  })

  app.post(
    '/v1/imports',
    {
      config: { access: 'contacts:write', bodySeconds: UPLOAD_SECONDS_MAX },
      bodyLimit: FILE_BYTES_MAX,
      schema: {
        operationId: 'uploadImport',
        tags: ['Imports'],
        summary: 'Upload a CSV file of contacts; nothing is imported yet',
        description:
          'The body is the file, at most 500 MB, also compressed with gzip (`Content-Encoding`). The encoding and the delimiter are detected, and exports of HubSpot, Mailchimp and Attio recognized. The response has the columns with samples and a proposed mapping.',
        consumes: ['text/csv'],
        querystring: UploadQuery,
        headers: Type.Object({ 'Idempotency-Key': Type.Optional(IdempotencyKey) }),
        body: Type.Unknown({ 'x-record': { type: 'string', examples: ['Email,First Name\nada@example.com,Ada\n'] } }),
        response: {
          201: { ...success({ import: Import }), headers: { 'Idempotent-Replayed': IdempotentReplayed } },
          ...errorResponses(UPLOAD_ERRORS),
        },
      },
    },
    async (request, reply) => {
      const { headers, query, url } = request
      refuseIfMatch(headers['if-match'])
      // After an error, the rest of the body is not read.
      reply.header('connection', 'close')
      const key = idempotencyKeyOf(headers['idempotency-key'])
      const sent = {
        name: query.file_name,
        body: request.body as Readable,
        decoder: decoderOf(request),
        bytes: Number(headers['content-length']),
      }
      const retryKey = key === undefined ? undefined : { key, request: `POST ${url}` }
      const { output, isRepeated } = await createImport({ ...dependencies, directory }, request, sent, retryKey)
      if (isRepeated) reply.header('idempotent-replayed', 'true')
      reply.removeHeader('connection')
      return reply.code(201).send({ status: 'success' as const, ...output })
    },
  )

  app.get(
    '/v1/imports/:import_id/failed.csv',
    {
      exposeHeadRoute: false,
      config: { access: 'contacts:write', furtherScopes: describeFurtherScopes(FAILED_ROWS) },
      onRequest: async (request) => requireScopeOf(request, ...scopesAlways(FAILED_ROWS)),
      schema: {
        operationId: 'downloadFailedRows',
        tags: ['Imports'],
        summary: 'Download the failed rows of an import as a CSV file',
        description: 'Correct the rows and import the file again. The audit log records each download.',
        params: Type.Object({ import_id: idInPath('import') }),
        response: {
          200: fileResponse('text/csv', 'Why each row failed, and its cells as uploaded.'),
          ...errorResponses([...EVERYWHERE, '404 not_found', '409 import_file_deleted', '429 too_many_exports']),
        },
      },
    },
    async ({ tenant, actor, params }, reply) => {
      dependencies.rateLimiter.checkAudited(callerOf(actor))
      const importId = pathId(params.import_id, 'import')
      const file = await failedRowsFile(tenant, importId, directory)
      const entry = { actor, ...entryOf('import.failed_rows_downloaded', importId) }
      const beforeSending = () => audit(tenant, entry, dependencies.clock())
      return sendCsv(tenant, reply, { ...file, beforeSending })
    },
  )
}
