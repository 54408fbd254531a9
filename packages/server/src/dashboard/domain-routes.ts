import Type from 'typebox'
import {
  checkRecord,
  claimDomain,
  type DomainCheck,
  listDomains,
  markVerified,
  readDomain,
  removeDomain,
  type TenantDomain,
} from '../access/domains-of-tenant.ts'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { flag } from '../platform/http/query-parameters.ts'
import { Id, Nullable, pathId, success, Timestamp } from '../platform/http/responses.ts'
import type { LookUpTxt } from '../platform/outbound/txt-records.ts'
import type { Clock } from '../platform/time.ts'
import { ADMIN, VIEWER } from './access.ts'
import { audited } from './audited.ts'

const Path = Type.Object({ domain_id: Type.String() })
const Domain = Type.Object({
  domain_id: Id,
  domain: Type.String(),
  txt_name: Type.String(),
  txt_value: Type.String(),
  verified_at: Nullable(Timestamp),
  created_at: Timestamp,
})
export type Domain = Type.Static<typeof Domain>
const Check = Type.Object({
  verified: Type.Boolean(),
  problem: Type.Unsafe<DomainCheck['problem']>({ enum: ['no_record', 'other_value', 'dns_unavailable', null] }),
  found: Type.Array(Type.String()),
})
export type Check = Type.Static<typeof Check>

export interface DomainDependencies {
  clock: Clock
  lookUpTxt: LookUpTxt
}

/** Domains: list, claim, check by asking DNS, remove. */
export function domainRoutes(app: App, { clock, lookUpTxt }: DomainDependencies): void {
  app.get(
    '/api/domains',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        querystring: Type.Object({
          ...pageParameters(20, 100),
          verified: flag('Only those that are verified, or only the others.'),
        }),
        response: { 200: success({ domains: Type.Array(Domain), pagination: Pagination }) },
      },
    },
    async ({ tenant, query: { page = 1, limit = 20, verified } }) => {
      const filters = verified === undefined ? {} : { verified }
      const { domains, total } = await listDomains(tenant, filters, { page, limit })
      return { status: 'success' as const, domains, pagination: paginationOf({ page, limit }, total) }
    },
  )

  app.post(
    '/api/domains',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        body: Type.Object({ domain: Type.String({ minLength: 1, maxLength: 500 }) }, { additionalProperties: false }),
        response: { 201: success({ domain: Domain }) },
      },
    },
    async (request, reply) => {
      const now = clock()
      const { domain } = await audited(
        request,
        now,
        (tx) => claimDomain(tx, request.body.domain, now),
        ({ domain: claimed }) => entryOf('domain.claimed', claimed),
      )
      return reply.code(201).send({ status: 'success', domain })
    },
  )

  app.post(
    '/api/domains/:domain_id/check',
    {
      config: { access: ADMIN },
      schema: { hide: true, params: Path, response: { 200: success({ domain: Domain, check: Check }) } },
    },
    async (request) => {
      const claimed = await readDomain(request.tenant, pathId(request.params.domain_id, 'domain'))
      const check = await checkRecord(lookUpTxt, claimed)
      if (!check.verified || claimed.verified_at !== null) {
        return { status: 'success' as const, domain: claimed, check }
      }
      const now = clock()
      const domain = await audited(
        request,
        now,
        (tx) => markVerified(tx, claimed.domain_id, now),
        (verified) => entryOf('domain.verified', verified),
      )
      return { status: 'success' as const, domain, check }
    },
  )

  app.delete(
    '/api/domains/:domain_id',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        params: Path,
        response: { 200: success({ deleted: Type.Literal(true), domain_id: Id }) },
      },
    },
    async (request) => {
      const domainId = pathId(request.params.domain_id, 'domain')
      await audited(
        request,
        clock(),
        (tx) => removeDomain(tx, domainId),
        (removed) => entryOf('domain.removed', removed),
      )
      return { status: 'success' as const, deleted: true as const, domain_id: domainId }
    },
  )
}

function entryOf(action: string, { domain_id, domain }: TenantDomain) {
  return { action, subjectKind: 'domain', subjectId: domain_id, details: { domain } }
}
