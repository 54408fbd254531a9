import Type from 'typebox'
import { CompanyProperties, ContactProperties } from '../../contacts/properties.ts'
import { AnswerMapping } from '../../hooks/mapping.ts'
import { entryAbout } from '../../operations/audit.ts'
import { idInPath, operationsWith, secret } from '../../operations/declare.ts'
import { callerOf } from '../../operations/idempotency.ts'
import { validationError } from '../../platform/errors.ts'
import { idInput } from '../../platform/http/inputs.ts'
import { Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import type { RateLimiter } from '../../platform/http/rate-limits.ts'
import { Changed, Detail, Id, Nullable, RecordError } from '../../platform/http/responses.ts'
import { NAME_LENGTH_MAX } from '../../platform/names.ts'
import type { Outbound } from '../../platform/outbound/client.ts'
import { LABEL, WITHHELD } from '../../platform/personal.ts'
import { PROVIDER_KINDS } from './kinds.ts'
import { EnrichmentProvider } from './provider-object.ts'
import {
  CACHE_DAYS_DEFAULT,
  createProvider,
  deleteProvider,
  listProviders,
  orderProviders,
  PROVIDERS_MAX,
  readProvider,
  updateProvider,
} from './providers.ts'
import { checkUrlTemplate } from './settings.ts'
import { tryProvider } from './try.ts'
import type { ProviderServices } from './work.ts'

interface Services extends ProviderServices {
  outbound: Pick<Outbound, 'check'>
  rateLimiter: Pick<RateLimiter, 'checkAudited'>
}

const operation = operationsWith<Services>()
const tag = 'Enrichment'
const ProviderPath = { provider_id: idInPath('enrichment provider') }
/** A provider is told about contacts and their companies, and fills them. */
const TOLD = ['contacts:read', 'companies:read'] as const
const TOLD_AND_FILLS = [...TOLD, 'contacts:write', 'companies:write'] as const

const SETTINGS = {
  enabled: Type.Optional(Type.Boolean({ description: 'Whether it is asked.' })),
  url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      description:
        'Kind `http` only: an https:// URL on the public internet, which is requested with GET. Behind the host, it can have variables: `{{contact.email}}`, `{{contact.email_domain}}`, `{{contact.PROPERTY}}`, `{{company.name}}`, `{{company.domain}}`, `{{company.PROPERTY}}`, `{{secrets.NAME}}`. A contact without one of the values is not asked about; `{{contact.lastname |}}` may be missing.',
      examples: ['https://api.example.com/people?email={{contact.email}}'],
    }),
  ),
  headers: Type.Optional(
    Type.Array(
      Type.Object(
        { name: Type.String(), value: Type.String() },
        { title: 'EnrichmentHeaderInput', additionalProperties: false },
      ),
      {
        maxItems: 20,
        description: 'Kind `http` only: the headers of the request, with the same variables.',
        examples: [[{ name: 'Authorization', value: 'Bearer {{secrets.api_key}}' }]],
      },
    ),
  ),
  mapping: Type.Optional(AnswerMapping),
  fills: Type.Optional(
    Nullable(
      Type.Array(Type.String({ maxLength: 200 }), { maxItems: 250 }),
      'What it may fill, of what its mapping has: properties of the contact, `company_id`, `company.name`, `company.<property>`. null: all.',
    ),
  ),
  secrets: Type.Optional(
    Type.Record(Type.String(), Nullable(secret({ maxLength: 4_096 })), {
      description:
        'Secrets for the request, by name; `api_key` for the other kinds. They are stored encrypted and never shown. null removes one. When the URL gets another host, send them again.',
      examples: [{ api_key: 'a-key-of-the-provider' }],
      format: 'password',
    }),
  ),
  monthly_budget: Type.Optional(
    Nullable(
      Type.Integer({ minimum: 1, maximum: 100_000_000 }),
      'The most requests in a calendar month, by the clock of the workspace. null for no limit.',
    ),
  ),
  requests_per_minute: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 6_000,
      description: "Default: that of the kind, which keeps to the provider's limit.",
    }),
  ),
  cache_days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      description: `How long an answer serves the same question again, without a request. Default: ${CACHE_DAYS_DEFAULT}.`,
    }),
  ),
}

const ProviderTest = Type.Object(
  {
    outcome: Type.Enum(['found', 'nothing', 'not_asked', 'failed'], {
      description:
        '`nothing`: the provider knows nobody like that. `not_asked`: the contact has no value for a variable of the request.',
    }),
    error: Nullable(RecordError),
    properties: Type.Unsafe<Type.Static<typeof ContactProperties>>({
      ...ContactProperties,
      description: 'What would be filled in the contact.',
    }),
    company: Nullable(
      Type.Object({
        domain: Nullable(Type.String(LABEL), 'The company that the contact would be linked to; null if it has one.'),
        name: Nullable(Type.String(LABEL)),
        properties: CompanyProperties,
      }),
      'What would be filled in its company.',
    ),
    problems: Type.Array(Detail, { description: 'Values of the wrong kind, which are left out.' }),
    response: Type.Unknown({ description: "The provider's response as JSON.", ...WITHHELD }),
  },
  { title: 'EnrichmentProviderTest' },
)

/** An audit entry about a provider. It must not contain a secret; a URL can have one. */
const entryOf = entryAbout('enrichment_provider')

/** Services that are asked about contacts. */
export const ENRICHMENT_PROVIDER_OPERATIONS = [
  operation({
    name: 'createEnrichmentProvider',
    tag,
    http: 'POST /v1/enrichment/providers',
    command: 'enrichment-provider create',
    scope: 'settings:write',
    also: [{ scopes: TOLD_AND_FILLS }],
    summary: 'Add a service that is asked about contacts',
    description:
      'It is asked after the providers that exist, about contacts that are created from now on, or that get a value that its request uses. It fills blanks only.',
    input: {
      name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, examples: ['Hunter'] }),
      kind: Type.Enum([...PROVIDER_KINDS], {
        description:
          '`hunter` and `people_data_labs` need only the secret `api_key`; `http` needs `url` and `mapping`.',
      }),
      ...SETTINGS,
    },
    output: { provider: EnrichmentProvider },
    status: 201,
    example: {
      name: 'People of Example',
      kind: 'http',
      url: 'https://api.example.com/people?email={{contact.email}}',
      headers: [{ name: 'Authorization', value: 'Bearer {{secrets.api_key}}' }],
      secrets: { api_key: 'a-key-of-the-provider' },
      mapping: { contact: { properties: { jobtitle: { path: 'person.title' } } } },
      monthly_budget: 1_000,
      enabled: false,
    },
    errors: ['400 url_not_allowed', '409 too_many_enrichment_providers', '503 secret_key_missing'],
    async check({ outbound }, { url }) {
      if (url !== undefined) await checkUrlTemplate(outbound, url)
    },
    async run({ tenant, secrets, now }, input) {
      const providerId = await createProvider(tenant, secrets, input, now)
      return { provider: await readProvider(tenant, providerId, now) }
    },
    audit: ({ provider: { provider_id, name, kind } }) =>
      entryOf('enrichment_provider.created', provider_id, { name, kind }),
  }),
  operation({
    name: 'listEnrichmentProviders',
    tag,
    http: 'GET /v1/enrichment/providers',
    command: 'enrichment-provider list',
    scope: 'settings:read',
    summary: 'List the enrichment providers in the order in which they are asked',
    input: pageParameters(PROVIDERS_MAX, PROVIDERS_MAX),
    output: { providers: Type.Array(EnrichmentProvider), pagination: Pagination },
    async run({ tenant, now }, { page, limit }) {
      const all = await listProviders(tenant, now)
      const providers = all.slice((page - 1) * limit, page * limit)
      return { providers, pagination: paginationOf({ page, limit }, all.length) }
    },
  }),
  operation({
    name: 'getEnrichmentProvider',
    tag,
    http: 'GET /v1/enrichment/providers/:provider_id',
    command: 'enrichment-provider get',
    scope: 'settings:read',
    summary: 'Get an enrichment provider, with what it was asked this month',
    input: ProviderPath,
    output: { provider: EnrichmentProvider },
    run: async ({ tenant, now }, { provider_id }) => ({ provider: await readProvider(tenant, provider_id, now) }),
  }),
  operation({
    name: 'updateEnrichmentProvider',
    tag,
    http: 'PATCH /v1/enrichment/providers/:provider_id',
    command: 'enrichment-provider update',
    scope: 'settings:write',
    also: [{ scopes: TOLD_AND_FILLS }],
    summary: 'Change the settings of an enrichment provider, or turn it on or off',
    description: 'A change ends a pause. What was filled before stays.',
    input: {
      ...ProviderPath,
      name: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX })),
      ...SETTINGS,
    },
    output: { provider: EnrichmentProvider, changed: Changed },
    example: { monthly_budget: 5_000 },
    errors: ['400 url_not_allowed', '503 secret_key_missing'],
    async check({ outbound }, { url }) {
      if (url !== undefined) await checkUrlTemplate(outbound, url)
    },
    async run({ tenant, secrets, now }, { provider_id, ...settings }) {
      const changed = await updateProvider(tenant, secrets, provider_id, settings, now)
      return { provider: await readProvider(tenant, provider_id, now), changed }
    },
    audit: ({ provider: { provider_id, name }, changed }) =>
      changed.length === 0 ? null : entryOf('enrichment_provider.updated', provider_id, { name, changed }),
  }),
  operation({
    name: 'orderEnrichmentProviders',
    tag,
    http: 'POST /v1/enrichment/providers/order',
    command: 'enrichment-provider order',
    scope: 'settings:write',
    summary: 'Set the order in which enrichment providers are asked',
    input: {
      provider_ids: Type.Array(idInput({ description: 'The id of a provider.' }), {
        maxItems: PROVIDERS_MAX,
        description: 'Every provider once, the first to be asked first.',
      }),
    },
    output: { providers: Type.Array(EnrichmentProvider) },
    example: { provider_ids: ['019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071'] },
    errors: ['404 not_found'],
    async run({ tenant, now }, { provider_ids }) {
      await orderProviders(tenant, provider_ids, now)
      return { providers: await listProviders(tenant, now) }
    },
    audit: ({ providers }, _input, { tenant }) => ({
      action: 'enrichment_provider.ordered',
      subjectKind: 'tenant',
      subjectId: tenant.id,
      details: { names: providers.map(({ name }) => name) },
    }),
  }),
  operation({
    name: 'testEnrichmentProvider',
    tag,
    http: 'POST /v1/enrichment/providers/:provider_id/test',
    command: 'enrichment-provider test',
    scope: 'settings:write',
    also: [{ scopes: TOLD }],
    summary: 'Ask an enrichment provider about a contact or an example address, and see what it would fill',
    description: 'Nothing is filled. The request counts in the budget. A provider that is off can be tested too.',
    input: {
      ...ProviderPath,
      contact_id: Type.Optional(idInput({ description: 'A contact. Send this or `email`.' })),
      email: Type.Optional(
        Type.String({
          minLength: 3,
          maxLength: 320,
          description: 'An address of nobody you know.',
          examples: ['ada@example.com'],
        }),
      ),
    },
    output: { provider: EnrichmentProvider, test: ProviderTest },
    example: { email: 'ada@example.com' },
    errors: ['404 contact_merged', '503 secret_key_missing'],
    async check({ tenant, actor, rateLimiter, ...services }, { provider_id, contact_id, email }) {
      if ((contact_id === undefined) === (email === undefined)) {
        throw validationError([{ path: 'contact_id', message: 'or email is required, and not both' }])
      }
      rateLimiter.checkAudited(callerOf(actor))
      return tryProvider(tenant, services, provider_id, { contactId: contact_id, email })
    },
    run: async ({ tenant, now }, { provider_id }, test) => ({
      provider: await readProvider(tenant, provider_id, now),
      test,
    }),
    audit: ({ provider: { provider_id, name }, test: { outcome } }) =>
      entryOf('enrichment_provider.tested', provider_id, { name, outcome }),
  }),
  operation({
    name: 'deleteEnrichmentProvider',
    tag,
    http: 'DELETE /v1/enrichment/providers/:provider_id',
    command: 'enrichment-provider delete',
    scope: 'settings:write',
    summary: 'Delete an enrichment provider with its secrets and its answers',
    description: 'What it filled stays, under its source.',
    input: ProviderPath,
    output: { deleted: Type.Literal(true), provider_id: Id, name: Type.String(LABEL) },
    async run({ tenant }, { provider_id }) {
      const { name } = await deleteProvider(tenant, provider_id)
      return { deleted: true as const, provider_id: provider_id.toLowerCase(), name }
    },
    audit: ({ provider_id, name }) => entryOf('enrichment_provider.deleted', provider_id, { name }),
  }),
]
