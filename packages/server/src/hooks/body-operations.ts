import Type from 'typebox'
import { CompanyProperties, ContactProperties } from '../contacts/properties.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { audit } from '../operations/audit.ts'
import { idInPath, operation, operationsWith } from '../operations/declare.ts'
import { fieldOf, READS_DATA, WRITES_DATA } from '../operations/further-scopes.ts'
import { conflict, type ErrorDetail, ServiceError } from '../platform/errors.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { Detail, Nullable, RecordError, Timestamp } from '../platform/http/responses.ts'
import type { IgnoredIds } from '../platform/ids-of-nobody.ts'
import { bag, LABEL, personal, TEXT, WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { RecordCalls } from '../sites/ingestion/record-calls.ts'
import { applyMapping } from './apply-mapping.ts'
import { BODIES_KEPT, claimBody, HookBody, releaseBody } from './bodies.ts'
import { guessMapping } from './guess-mapping.ts'
import { requireHook } from './hooks.ts'
import { Mapping, requireMapping } from './mapping.ts'
import { entryOf, HookPath, tag } from './operations.ts'
import { processBody, RETRY_PAUSE_SECONDS, UNEXPECTED } from './process.ts'
import { listBodies, newestContent, readBody } from './read-bodies.ts'

/** The services for recording a body again. */
export interface HookBodyServices extends WriteServices {
  recordCalls: RecordCalls
}

const BodyPath = { ...HookPath, body_id: idInPath('body') }
const Data = Type.Unknown({
  description: 'A JSON object or array.',
  examples: [{ type: 'order.paid', order: { id: '1815', total: 49.9 }, customer: { email: 'ada@example.com' } }],
  ...bag('any'),
})

const Sample = Type.Optional(
  Type.Unknown({
    description: 'A JSON object or array. Default: the newest kept body.',
    examples: [{ type: 'order.paid', customer: { email: 'ada@example.com' } }],
  }),
)

const Preview = {
  state: Type.Enum(['recorded', 'skipped', 'failed'], { description: 'The outcome that the body would have.' }),
  error: Nullable(Type.Object({ ...RecordError.properties, details: Type.Array(Detail) })),
  event: Nullable(
    Type.Object({
      name: Type.String(LABEL),
      timestamp: Nullable(Timestamp, 'null: when the body arrives.'),
      id: Nullable(Type.String(TEXT)),
      url: Nullable(Type.String(TEXT)),
      data: Type.Record(Type.String(), Type.Unknown(), bag('any')),
    }),
  ),
  contact: Nullable(
    Type.Object({
      email: Nullable(Type.String(personal('email'))),
      user_id: Nullable(Type.String(TEXT)),
      external_id: Nullable(Type.String(TEXT)),
      properties: ContactProperties,
    }),
  ),
  company: Nullable(
    Type.Object({
      domain: Type.String(WORD),
      name: Nullable(Type.String(LABEL)),
      properties: CompanyProperties,
    }),
  ),
}

/** The bodies that hooks have received. */
export const HOOK_BODY_OPERATIONS = [
  operation({
    name: 'listHookBodies',
    tag,
    http: 'GET /v1/hooks/:hook_id/bodies',
    command: 'hook-body list',
    scope: 'settings:read',
    also: [{ scopes: READS_DATA }],
    summary: 'List the last bodies of an incoming webhook with their outcomes, newest first',
    description: `The last ${BODIES_KEPT} bodies of the last 30 days, up to 4 MiB in total. GET /v1/hooks/:hook_id/bodies/:body_id returns the content.`,
    input: { ...HookPath, ...pageParameters(50, BODIES_KEPT) },
    output: { bodies: Type.Array(HookBody), pagination: Pagination },
    async run({ tenant }, { hook_id, page, limit }) {
      await requireHook(tenant, hook_id)
      const { bodies, total } = await listBodies(tenant, hook_id, { page, limit })
      return { bodies, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getHookBody',
    tag,
    http: 'GET /v1/hooks/:hook_id/bodies/:body_id',
    command: 'hook-body get',
    scope: 'settings:read',
    also: [{ scopes: READS_DATA }],
    summary: 'Get a body of an incoming webhook with its content',
    input: BodyPath,
    output: { body: HookBody, data: Data },
    async run({ tenant }, { hook_id, body_id }) {
      const { body, content } = await readBody(tenant, hook_id, body_id)
      return { body, data: content }
    },
  }),
  operationsWith<WriteServices>()({
    name: 'previewHook',
    tag,
    http: 'POST /v1/hooks/:hook_id/preview',
    command: 'hook preview',
    scope: 'settings:read',
    also: [
      { scopes: READS_DATA, when: 'without `sample`', ofSent: (sent) => (fieldOf(sent, 'sample') ?? null) === null },
    ],
    summary: 'Preview the records that a mapping would create from a body; nothing is written',
    description: "Default for `mapping`: the hook's mapping.",
    input: {
      ...HookPath,
      mapping: Type.Optional(Mapping),
      sample: Sample,
    },
    output: Preview,
    example: {
      mapping: { event: { name: { path: 'type' } }, contact: { email: { path: 'customer.email' } } },
      sample: { type: 'order.paid', customer: { email: 'ada@example.com' } },
    },
    errors: ['409 hook_has_no_body'],
    reads: true,
    async run({ tenant, findIgnoredIds, warn }, { hook_id, mapping, sample }) {
      const hook = await requireHook(tenant, hook_id)
      if (mapping) requireMapping(mapping)
      const body = await sampleOf(tenant, hook_id, sample)
      return previewOf(mapping ?? (hook.mapping as unknown as Mapping), body, await findIgnoredIds(tenant), warn)
    },
  }),
  operation({
    name: 'proposeHookMapping',
    tag,
    http: 'POST /v1/hooks/:hook_id/proposal',
    command: 'hook propose',
    scope: 'settings:read',
    also: [
      { scopes: READS_DATA, when: 'without `sample`', ofSent: (sent) => (fieldOf(sent, 'sample') ?? null) === null },
    ],
    summary: 'Propose a mapping for a body; nothing is written',
    description:
      'The proposal follows from the names and values of the fields of the body: the person with the first address, what happened and when, and what else there is. Check it with a preview before you save it.',
    input: { ...HookPath, sample: Sample },
    output: { mapping: Mapping },
    example: { sample: { type: 'order.paid', customer: { email: 'ada@example.com', first_name: 'Ada' } } },
    errors: ['409 hook_has_no_body'],
    reads: true,
    async run({ tenant }, { hook_id, sample }) {
      const { name } = await requireHook(tenant, hook_id)
      return { mapping: guessMapping(await sampleOf(tenant, hook_id, sample), name) }
    },
  }),
  operationsWith<HookBodyServices>()({
    name: 'runHookBody',
    tag,
    http: 'POST /v1/hooks/:hook_id/bodies/:body_id/run',
    command: 'hook-body run',
    scope: 'settings:write',
    also: [{ scopes: WRITES_DATA }],
    summary: "Record a body again with the hook's current mapping",
    description:
      'The contact and the company get the values of the body. Its event is not recorded again, unless the mapping now gives it a different id or name. So a retry after an interrupted request is harmless.',
    input: BodyPath,
    output: { body: HookBody },
    errors: ['409 hook_body_in_progress'],
    async run(context, { hook_id, body_id }) {
      const { tenant, actor, now } = context
      const hook = await requireHook(tenant, hook_id)
      const { body: known } = await readBody(tenant, hook_id, body_id)
      const claimed = await claimBody(tenant, hook_id, body_id)
      if (claimed === null) throw inProgress()
      try {
        // A person who runs an old body again wants its values, even if newer ones have been written since.
        await processBody(tenant, context, hook, { ...claimed, writesAt: null })
      } catch (error) {
        const isPending = known.state === 'pending'
        const { code, message } = error instanceof ServiceError ? error : UNEXPECTED
        const retry = isPending ? { pauseSeconds: RETRY_PAUSE_SECONDS, code, message } : null
        await releaseBody(tenant, claimed, retry).catch(() => {})
        throw error
      }
      const { body } = await readBody(tenant, hook_id, body_id)
      await audit(tenant, { actor, ...entryOf('hook.body_run', hook_id, { name: hook.name, body_id }) }, now)
      return { body }
    },
    // The records are written in transactions of their own.
    audit: 'own',
  }),
]

function previewOf(mapping: Mapping, body: unknown, ignored: IgnoredIds, warn: (text: string) => void) {
  const nothing = { event: null, contact: null, company: null }
  try {
    const mapped = applyMapping(mapping, body, ignored)
    if ('skipped' in mapped) {
      return { state: 'skipped' as const, error: { ...mapped.skipped, details: [] as ErrorDetail[] }, ...nothing }
    }
    const { warnings, ...records } = mapped
    for (const text of warnings) warn(text)
    return { state: 'recorded' as const, error: null, ...records }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, message, details = [] } = error
    return { state: 'failed' as const, error: { code, message, details }, ...nothing }
  }
}

/** @throws ServiceError 409 if there is neither a sample nor a kept body. */
async function sampleOf(tenant: Tenant, hookId: string, sample: unknown): Promise<unknown> {
  const body = sample ?? (await newestContent(tenant, hookId))
  if (body === undefined) throw noBody()
  return body
}

function noBody(): ServiceError {
  return conflict('hook_has_no_body', 'The hook has not received a body yet. Send one to its URL, or pass a sample.')
}

function inProgress(): ServiceError {
  return conflict('hook_body_in_progress', 'The body is being recorded. Try again in a minute.')
}
