import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { App } from '../../platform/http/app-types.ts'
import type { RateLimiter } from '../../platform/http/rate-limits.ts'
import { ContactId, errorResponses, Id, Nullable, success } from '../../platform/http/responses.ts'
import { unlessNobody } from '../../platform/ids-of-nobody.ts'
import type { PlaceOf } from '../../platform/places.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import type { ProblemRecorder } from '../problems/record.ts'
import { watchForProblems } from '../problems/watch.ts'
import { allowPage, allowPreflight, type FindTenantOfHost, PAGE_ERRORS, tenantNamed } from '../track/page.ts'
import { personsNamed, requirePageOfForm } from './admission.ts'
import { FormSubmissionBody, parseSubmission } from './requests.ts'
import { type SubmissionDependencies, submitForm } from './submit.ts'

const BODY_BYTES_MAX = 256 * 1024
const PATH = '/v1/public/form-submission/:tenant_id/:form_id'
const Path = Type.Object({ tenant_id: Type.String(), form_id: Type.String() })

/** Forms on the tenant's pages. The page's domain decides who may submit. */
export async function formRoutes(
  app: App,
  dependencies: SubmissionDependencies & {
    stores: Stores
    findTenantOfHost: FindTenantOfHost
    rateLimiter: RateLimiter
    placeOf: PlaceOf
    problems: ProblemRecorder
  },
): Promise<void> {
  const { stores, findTenantOfHost, rateLimiter, placeOf } = dependencies

  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const { tenant_id, form_id } = request.params as Type.Static<typeof Path>
    const tenantId = await requirePageOfForm(request.headers, tenant_id, findTenantOfHost)
    request.siteTenantId = tenantId
    allowPage(request, reply)
    if (request.method !== 'OPTIONS') rateLimiter.checkForm(tenantId, form_id, request.ip, reply)
  })

  app.decorateRequest('siteTenantId', '')
  watchForProblems(app, dependencies.problems, ({ siteTenantId, params }) => ({
    tenantId: siteTenantId || tenantNamed((params as Type.Static<typeof Path>).tenant_id),
    isVerified: siteTenantId !== '',
  }))
  app.options(PATH, { config: { access: 'public' }, schema: { hide: true } as object }, allowPreflight)

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
          200: success({ contact_id: ContactId, company_id: Nullable(Id) }),
          ...errorResponses([...PAGE_ERRORS, '413 company_too_large', '413 contact_too_large']),
        },
      },
      // Before the body is validated, so that every request counts.
      preValidation: async (request, reply) => {
        const ignored = await dependencies.findIgnoredIds(openTenant(stores, request.siteTenantId))
        for (const person of personsNamed(request.body, ignored)) {
          rateLimiter.checkFormPerson(request.siteTenantId, person, reply)
        }
      },
    },
    async (request) => {
      const tenant = openTenant(stores, request.siteTenantId)
      const { params, body, headers, ip } = request
      const parsed = parseSubmission(params.form_id, body, { headers, place: placeOf(ip) })
      const ignored = await dependencies.findIgnoredIds(tenant)
      const visitorId = unlessNobody('visitor_id', parsed.visitorId, ignored, request.warnings)
      request.warnings.push(...parsed.warnings)
      const submission = { ...parsed, visitorId }
      const { warnings, ...result } = await submitForm(tenant, dependencies, submission)
      request.warnings.push(...warnings)
      return { status: 'success' as const, ...result }
    },
  )
}
