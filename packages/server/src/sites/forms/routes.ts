import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { propertyNameOf } from '../../contacts/property-names.ts'
import { EVENT_TEXT_LENGTH_MAX } from '../../journal/event-record.ts'
import { hasMoreCharacters } from '../../platform/characters.ts'
import { validationError } from '../../platform/errors.ts'
import type { App } from '../../platform/http/app-types.ts'
import { isStorableText } from '../../platform/http/json-body.ts'
import type { RateLimiter } from '../../platform/http/rate-limits.ts'
import { errorResponses, Id, Nullable, success } from '../../platform/http/responses.ts'
import { isUuid } from '../../platform/ids.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import { USER_AGENT_LENGTH_MAX } from '../ingestion/event-fields.ts'
import type { ProblemRecorder } from '../problems/record.ts'
import { watchForProblems } from '../problems/watch.ts'
import { sendingHost } from '../track/location.ts'
import { allowPage, answerPreflight, domainNotAllowed, type FindTenantOfHost, PAGE_ERRORS } from '../track/page.ts'
import { sessionOf } from '../track/session.ts'
import { parseUserAgent } from '../track/user-agent.ts'
import { FormSubmissionBody, parseSubmission } from './requests.ts'
import { type Page, type SubmissionDependencies, submitForm } from './submit.ts'

const BODY_BYTES_MAX = 256 * 1024
const FORM_ID_LENGTH_MAX = 200
const PATH = '/v1/public/form-submission/:tenant_id/:form_id'
const Path = Type.Object({ tenant_id: Type.String(), form_id: Type.String() })

/** Forms on the tenant's pages. The page's domain decides who may submit. */
export async function formRoutes(
  app: App,
  dependencies: SubmissionDependencies & {
    stores: Stores
    findTenantOfHost: FindTenantOfHost
    rateLimiter: RateLimiter
    problems: ProblemRecorder
  },
): Promise<void> {
  const { stores, findTenantOfHost, rateLimiter } = dependencies

  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const { tenant_id, form_id } = request.params as Type.Static<typeof Path>
    const host = sendingHost(request.headers)
    const tenantId = host === null ? null : await findTenantOfHost(host)
    // An unknown tenant gets the same response as a foreign domain, so that nobody learns which tenants exist.
    if (tenantId === null || tenantId !== tenant_id.toLowerCase()) throw domainNotAllowed(host)
    request.siteTenantId = tenantId
    allowPage(request, reply)
    if (request.method !== 'OPTIONS') rateLimiter.checkForm(tenantId, form_id, request.ip, reply)
  })

  app.decorateRequest('siteTenantId', '')
  watchForProblems(app, dependencies.problems, ({ siteTenantId, params }) => ({
    tenantId: siteTenantId || tenantOfPath(params as Type.Static<typeof Path>),
    isVerified: siteTenantId !== '',
  }))
  app.options(PATH, { config: { access: 'public' }, schema: { hide: true } as object }, answerPreflight)

  app.post(
    PATH,
    {
      config: { access: 'public' },
      bodyLimit: BODY_BYTES_MAX,
      schema: {
        operationId: 'submitForm',
        summary: 'Submit a website form',
        description:
          'Called by pages of a domain that the tenant has verified. Creates the contact and the company or fills their blanks, links the visitor and records a form_submission event. Warnings name the properties that a form may not change.',
        tags: ['Public'],
        security: [],
        params: Path,
        body: FormSubmissionBody,
        response: {
          200: success({ contact_id: Id, company_id: Nullable(Id) }),
          ...errorResponses([...PAGE_ERRORS, '413 company_too_large', '413 contact_too_large']),
        },
      },
      // Before the body is validated, so that every request counts.
      preValidation: async (request, reply) => {
        for (const person of personsOf(request.body)) {
          rateLimiter.checkFormPerson(request.params.tenant_id.toLowerCase(), person, reply)
        }
      },
    },
    async (request) => {
      const { tenant_id, form_id } = request.params
      if (form_id === '' || hasMoreCharacters(form_id, FORM_ID_LENGTH_MAX) || !isStorableText(form_id)) {
        throw validationError([
          { path: 'form_id', message: `must be 1 to ${FORM_ID_LENGTH_MAX} characters, without NUL` },
        ])
      }
      const submission = { ...parseSubmission(request.body), formId: form_id, page: pageOf(request) }
      const tenant = openTenant(stores, tenant_id.toLowerCase())
      const { warnings, ...answer } = await submitForm(tenant, dependencies, submission)
      request.warnings.push(...warnings)
      return { status: 'success' as const, ...answer }
    },
  )
}

/** The tenant that a form names; null if it is no id. */
function tenantOfPath({ tenant_id }: Type.Static<typeof Path>): string | null {
  return isUuid(tenant_id) ? tenant_id.toLowerCase() : null
}

/** The visitor and email address in a body that is not validated yet. */
function personsOf(body: unknown): string[] {
  const { visitor_id, contact_data } = (body ?? {}) as { visitor_id?: unknown; contact_data?: object | null }
  // `Email` counts as `email`.
  const emails = Object.entries(contact_data ?? {}).filter(([key]) => propertyNameOf(key) === 'email')
  return [
    ...(typeof visitor_id === 'string' && visitor_id.trim() !== '' ? [`visitor ${visitor_id.slice(0, 200)}`] : []),
    ...emails.flatMap(([, email]) =>
      typeof email === 'string' ? [`email ${email.trim().toLowerCase().slice(0, 320)}`] : [],
    ),
  ]
}

function pageOf({ headers }: FastifyRequest): Page {
  const userAgentHeader = (headers['user-agent'] ?? '').slice(0, USER_AGENT_LENGTH_MAX)
  return {
    url: (headers.referer ?? headers.origin ?? '').slice(0, EVENT_TEXT_LENGTH_MAX),
    host: sendingHost(headers),
    sessionId: sessionOf(headers.cookie) ?? '',
    userAgentHeader,
    userAgent: parseUserAgent(userAgentHeader),
  }
}
