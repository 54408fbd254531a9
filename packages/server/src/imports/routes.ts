import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Config } from '../config.ts'
import { audit } from '../operations/audit.ts'
import { idempotencyKeyOf, performOnce } from '../operations/idempotency.ts'
import type { Finish } from '../operations/perform.ts'
import { sendCsv } from '../overview/csv.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { conflict, ServiceError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { decoderOf } from '../platform/http/read-body.ts'
import { ErrorAnswer, pathId, success } from '../platform/http/responses.ts'
import { newId } from '../platform/ids.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { failedRowCells, failedRowColumns, failedRowPages } from './failed-rows.ts'
import { deleteFile, FILE_BYTES_MAX, fileOf, importDirectory } from './files.ts'
import { Import } from './import-object.ts'
import { readImport, requireImport } from './imports.ts'
import { insertImport } from './insert-import.ts'
import { fileTooLarge, receiveFile } from './upload.ts'

/** Seconds for a whole upload. */
const UPLOAD_SECONDS_MAX = 3_600

interface Dependencies {
  clock: Clock
  config: Pick<Config, 'dataDirectory'>
  jobs: Pick<Jobs, 'send'>
  secrets: SecretBox
}

const UploadQuery = Type.Object({
  file_name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Name of the file, for the list of imports.' }),
  ),
})
type UploadRequest = FastifyRequest<{ Querystring: Type.Static<typeof UploadQuery> }>

const error = (codes: string) => ({ ...ErrorAnswer, 'x-response-description': codes })

/** The files of imports, which are no operations, because they are streamed. */
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
          'The body is the file, at most 500 MB, also compressed with gzip (`Content-Encoding`). The encoding and the delimiter are detected, and exports of HubSpot, Mailchimp and Attio recognized. The answer has the columns with samples and a proposed mapping.',
        consumes: ['text/csv'],
        querystring: UploadQuery,
        body: Type.Unknown({ 'x-record': { type: 'string', examples: ['Email,First Name\nada@example.com,Ada\n'] } }),
        response: {
          201: success({ import: Import }),
          400: error('`invalid_file`, `validation_error`, `invalid_content_encoding`, `bad_request`'),
          401: error('`invalid_api_key`, `missing_api_key`, `not_signed_in`'),
          403: error('`insufficient_scope`, `insufficient_role`, `cross_site_request`, `no_tenant`'),
          409: error('`too_many_imports`, `import_storage_full`, `idempotency_key_in_use`, `idempotency_key_reused`'),
          413: error('`body_too_large`'),
          415: error('`unsupported_media_type`, `unsupported_content_encoding`'),
          429: error('`rate_limited`, `too_many_uploads`'),
          503: error('`storage_full`, `store_unavailable`'),
        },
      },
    },
    async (request, reply) => upload(request as UploadRequest, reply),
  )

  async function upload(request: UploadRequest, reply: FastifyReply) {
    const { tenant, actor, headers, query } = request
    // After an error, the rest of the body is not read.
    reply.header('connection', 'close')
    const key = idempotencyKeyOf(headers['idempotency-key'])
    if (Number(headers['content-length']) > FILE_BYTES_MAX) throw fileTooLarge()
    const importId = newId()
    const fileName = nameOf(query.file_name)
    const decoder = decoderOf(request)
    const file = await receiveFile(tenant, request.body as Readable, { importId, fileName, directory, decoder })
    const now = dependencies.clock()
    const insert = (finish?: Finish) =>
      tenant.transaction(async (tx: Tenant) => {
        await insertImport(tx, dependencies, { ...file, fileName, actor }, now)
        const answer = { import: await readImport(tx, importId, now) }
        await finish?.(tx, answer)
        return answer
      })
    try {
      const sent = `POST ${request.url}\n${file.sha256}`
      const caller = { tenant, actor, now, secrets: dependencies.secrets }
      const { answer, isRepeated } =
        key === undefined
          ? { answer: await insert(), isRepeated: false }
          : await performOnce(caller, { key, sent }, insert)
      if (isRepeated) {
        await deleteFile(fileOf(directory, importId))
        reply.header('idempotent-replayed', 'true')
      }
      reply.removeHeader('connection')
      return reply.code(201).send({ status: 'success', ...answer })
    } catch (cause) {
      await deleteFile(fileOf(directory, importId))
      throw cause
    }
  }

  app.get(
    '/v1/imports/:import_id/failed.csv',
    {
      exposeHeadRoute: false,
      config: { access: 'contacts:write' },
      schema: { hide: true, params: Type.Object({ import_id: Type.String() }) },
    },
    async ({ tenant, actor, params }, reply) => {
      const row = await requireImport(tenant, pathId(params.import_id, 'import'))
      if (!row.has_file) throw conflict('import_file_deleted', 'The file of this import was deleted.')
      const entry = { actor, action: 'import.failed_rows_downloaded', subjectKind: 'import', subjectId: row.import_id }
      return sendCsv(tenant, reply, {
        name: `failed-rows-${row.import_id}.csv`,
        columns: failedRowColumns(row),
        pages: failedRowPages(tenant, row, fileOf(directory, row.import_id)),
        cellsOf: failedRowCells,
        beforeSending: () => audit(tenant, entry, dependencies.clock()),
      })
    },
  )
}

/** A file's name without its path. */
function nameOf(name = 'contacts.csv'): string {
  const clean = name
    .replace(/^.*[/\\]/s, '')
    .replace(/\p{Cc}/gu, '')
    .trim()
  return clean === '' ? 'contacts.csv' : clean.toWellFormed()
}
