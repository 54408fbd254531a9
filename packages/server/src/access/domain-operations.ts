import Type from 'typebox'
import type { Config } from '../config.ts'
import { idInPath, operation, operationsWith } from '../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { flag } from '../platform/http/query-parameters.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { TEXT, WORD } from '../platform/personal.ts'
import {
  type Attempt,
  findProofs,
  PROOFS,
  type Proof,
  type ProofServices,
  PUBLISHED,
  type PublishedProof,
} from './domain-proofs.ts'
import {
  addDomain,
  addVerifiedDomain,
  isLocalHere,
  listDomains,
  markVerified,
  readDomain,
  removeDomain,
  type TenantDomain,
} from './domains-of-tenant.ts'

/** The services that the operations on domains need. */
export interface DomainServices extends ProofServices {
  config: Pick<Config, 'publicUrl'>
}

const tag = 'Domains'
const DomainPath = { domain_id: idInPath('domain') }
const ofDomains = operationsWith<DomainServices>()

const Domain = Type.Object(
  {
    domain_id: Id,
    domain: Type.String(WORD),
    txt_name: Type.String({ description: 'The name of the TXT record that verifies the domain.', ...WORD }),
    txt_value: Type.String({ description: 'The value of that record.', ...WORD }),
    file_url: Type.String({ description: 'Or: the URL of a text file that verifies the domain.', ...WORD }),
    file_content: Type.String({ description: 'The content of that file.', ...WORD }),
    meta_tag: Type.String({ description: 'Or: a tag in the head of the home page that verifies the domain.', ...WORD }),
    verified_at: Nullable(Timestamp),
    verified_by: Type.Unsafe<Proof | null>({
      enum: [...PROOFS, null],
      description:
        'How it was verified; `local`: it means the machine that the service runs on; `operator`: on the command line.',
    }),
    created_at: Timestamp,
  },
  { title: 'Domain' },
)

const Check = Type.Object({
  verified: Type.Boolean({ description: 'Whether a proof was found now.' }),
  method: Type.Unsafe<PublishedProof | 'local' | null>({
    enum: [...PUBLISHED, 'local', null],
    description: 'The proof that was found; the first one of several.',
  }),
  attempts: Type.Array(
    Type.Object({
      method: Type.Unsafe<PublishedProof>({ enum: [...PUBLISHED] }),
      outcome: Type.Unsafe<Attempt['outcome']>({ enum: ['found', 'nothing', 'other_value', 'unreachable'] }),
      found: Type.Array(Type.String(TEXT), { description: 'The values found there.' }),
    }),
    { description: 'What each place has; empty for a local domain.' },
  ),
})
type Check = Type.Static<typeof Check>

function domainEntry(action: string, { domain_id, domain }: Pick<TenantDomain, 'domain_id' | 'domain'>) {
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
      verified: flag('Only verified domains, or only unverified ones.'),
    },
    output: { domains: Type.Array(Domain), pagination: Pagination },
    async run({ tenant }, { page, limit, verified }) {
      const filters = verified === undefined ? {} : { verified }
      const { domains, total } = await listDomains(tenant, filters, { page, limit })
      return { domains, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  ofDomains({
    name: 'addDomain',
    tag,
    http: 'POST /v1/domains',
    command: 'domain add',
    scope: 'settings:write',
    summary: 'Add a domain, to be verified with a TXT record, a file or a meta tag',
    description:
      'A domain that was added before is returned unchanged. While the service runs on a local URL, `localhost` and other names of the same machine are verified at once.',
    input: { domain: Type.String({ minLength: 1, maxLength: 500, examples: ['shop.example'] }) },
    operatorInput: {
      verified: Type.Optional(Type.Literal(true, { description: 'Verify it without a proof.' })),
    },
    output: { domain: Domain },
    status: 201,
    example: { domain: 'shop.example' },
    errors: ['400 invalid_domain', '400 local_domain', '409 too_many_domains', '409 domain_taken'],
    async run({ tenant, config, now }, { domain: host, verified }) {
      if (verified) return { domain: await addVerifiedDomain(tenant, host, now) }
      return { domain: (await addDomain(tenant, host, config.publicUrl, now)).domain }
    },
    audit: ({ domain }) => domainEntry(domain.verified_at === null ? 'domain.added' : 'domain.verified', domain),
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
  ofDomains({
    name: 'verifyDomain',
    tag,
    http: 'POST /v1/domains/:domain_id/verify',
    command: 'domain verify',
    scope: 'settings:write',
    summary: 'Look for the TXT record, the file and the meta tag of a domain, and mark it as verified if one is there',
    input: DomainPath,
    output: { domain: Domain, check: Check },
    errors: ['400 local_domain', '409 domain_taken'],
    forAudit: { isNew: Type.Boolean() },
    check: async ({ tenant, config, ...services }, { domain_id }) =>
      checkDomain(services, await readDomain(tenant, domain_id), config.publicUrl),
    async run({ tenant, now }, { domain_id }, check) {
      const domain = await readDomain(tenant, domain_id)
      const { method } = check
      if (method === null || domain.verified_at !== null) return { domain, check, isNew: false }
      return { domain: await markVerified(tenant, domain_id, method, now), check, isNew: true }
    },
    audit: ({ domain, check: { method }, isNew }) => {
      const entry = domainEntry('domain.verified', domain)
      return isNew ? { ...entry, details: { ...entry.details, verified_by: method } } : null
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
    output: { deleted: Type.Literal(true), domain_id: Id, domain: Type.String(WORD) },
    async run({ tenant }, { domain_id }) {
      const { domain } = await removeDomain(tenant, domain_id)
      return { deleted: true as const, domain_id, domain }
    },
    audit: (removed) => domainEntry('domain.removed', removed),
  }),
]

async function checkDomain(
  services: ProofServices,
  { domain, txt_value: value }: TenantDomain,
  publicUrl: string,
): Promise<Check> {
  if (isLocalHere(domain, publicUrl)) return { verified: true, method: 'local', attempts: [] }
  const attempts = await findProofs(services, domain, value)
  const method = attempts.find(({ outcome }) => outcome === 'found')?.method ?? null
  return { verified: method !== null, method, attempts }
}
