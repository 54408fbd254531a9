import Type from 'typebox'
import { audit } from '../operations/audit.ts'
import { idInPath, operation, operationsWith } from '../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { flag } from '../platform/http/query-parameters.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import type { LookUpTxt } from '../platform/outbound/txt-records.ts'
import {
  addDomain,
  checkRecord,
  type DomainCheck,
  listDomains,
  markVerified,
  readDomain,
  removeDomain,
  type TenantDomain,
} from './domains-of-tenant.ts'

/** The services that the operations on domains need. */
export interface DomainServices {
  lookUpTxt: LookUpTxt
}

const tag = 'Domains'
const DomainPath = { domain_id: idInPath('domain') }

const Domain = Type.Object(
  {
    domain_id: Id,
    domain: Type.String(),
    txt_name: Type.String({ description: 'The name of the TXT record that verifies the domain.' }),
    txt_value: Type.String({ description: 'The value of that record.' }),
    verified_at: Nullable(Timestamp),
    created_at: Timestamp,
  },
  { title: 'Domain' },
)
export type Domain = Type.Static<typeof Domain>

const Check = Type.Object({
  verified: Type.Boolean(),
  problem: Type.Unsafe<DomainCheck['problem']>({ enum: ['no_record', 'other_value', 'dns_unavailable', null] }),
  found: Type.Array(Type.String(), { description: 'The values of the TXT records found under the name.' }),
})
export type Check = Type.Static<typeof Check>

export function domainEntry(action: string, { domain_id, domain }: Pick<TenantDomain, 'domain_id' | 'domain'>) {
  return { action, subjectKind: 'domain', subjectId: domain_id, details: { domain } }
}

export const DOMAIN_OPERATIONS = [
  operation({
    name: 'listDomains',
    tag,
    http: 'GET /v1/domains',
    command: 'domain list',
    scope: 'settings:read',
    summary: 'List the domains whose pages may send events, in alphabetical order',
    input: {
      ...pageParameters(20, 100),
      verified: flag('Only domains that are verified, or only those that are not.'),
    },
    output: { domains: Type.Array(Domain), pagination: Pagination },
    async run({ tenant }, { page = 1, limit = 20, verified }) {
      const filters = verified === undefined ? {} : { verified }
      const { domains, total } = await listDomains(tenant, filters, { page, limit })
      return { domains, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'addDomain',
    tag,
    http: 'POST /v1/domains',
    scope: 'settings:write',
    summary: 'Add a domain, to be verified with a TXT record',
    description: 'A domain that was added before is returned unchanged.',
    input: { domain: Type.String({ minLength: 1, maxLength: 500, examples: ['shop.example'] }) },
    output: { domain: Domain },
    status: 201,
    example: { domain: 'shop.example' },
    errors: ['400 invalid_domain', '409 too_many_domains'],
    run: async ({ tenant, now }, { domain }) => ({ domain: (await addDomain(tenant, domain, now)).domain }),
    audit: ({ domain }) => domainEntry('domain.claimed', domain),
  }),
  operation({
    name: 'getDomain',
    tag,
    http: 'GET /v1/domains/:domain_id',
    command: 'domain get',
    scope: 'settings:read',
    summary: 'Get a domain',
    input: DomainPath,
    output: { domain: Domain },
    run: async ({ tenant }, { domain_id }) => ({ domain: await readDomain(tenant, domain_id) }),
  }),
  operationsWith<DomainServices>()({
    name: 'checkDomain',
    tag,
    http: 'POST /v1/domains/:domain_id/check',
    command: 'domain check',
    scope: 'settings:write',
    summary: 'Look up the TXT record of a domain, and mark the domain as verified if the record exists',
    input: DomainPath,
    output: { domain: Domain, check: Check },
    errors: ['409 domain_taken'],
    // DNS is queried outside the transaction.
    audit: 'own',
    async run({ tenant, now, actor, lookUpTxt }, { domain_id }) {
      const domain = await readDomain(tenant, domain_id)
      const check = await checkRecord(lookUpTxt, domain)
      if (!check.verified || domain.verified_at !== null) return { domain, check }
      const verified = await tenant.transaction(async (tx) => {
        const marked = await markVerified(tx, domain_id, now)
        await audit(tx, { actor, ...domainEntry('domain.verified', marked) }, now)
        return marked
      })
      return { domain: verified, check }
    },
  }),
  operation({
    name: 'removeDomain',
    tag,
    http: 'DELETE /v1/domains/:domain_id',
    command: 'domain remove',
    scope: 'settings:write',
    summary: 'Remove a domain: its pages can no longer send events',
    input: DomainPath,
    output: { deleted: Type.Literal(true), domain_id: Id, domain: Type.String() },
    async run({ tenant }, { domain_id }) {
      const { domain } = await removeDomain(tenant, domain_id)
      return { deleted: true as const, domain_id, domain }
    },
    audit: (removed) => domainEntry('domain.removed', removed),
  }),
]
