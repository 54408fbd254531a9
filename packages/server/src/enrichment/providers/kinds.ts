import type { AnswerMapping } from '../../hooks/mapping.ts'

export const PROVIDER_KINDS = ['http', 'hunter', 'people_data_labs'] as const
export type ProviderKindName = (typeof PROVIDER_KINDS)[number]

/** The request of a provider, with variables such as `{{contact.email}}` and `{{secrets.api_key}}`. */
export interface RequestTemplate {
  url: string
  headers: readonly { name: string; value: string }[]
}

/** What is fixed about a kind of providers. */
export interface ProviderKind {
  /** null: the tenant writes the request and the mapping. */
  fixed: { request: RequestTemplate; mapping: AnswerMapping } | null
  requestsPerMinute: number
  /** How responses say so, by status. Any other that is not a success is an error. */
  notFound: readonly number[]
  rateLimited: readonly number[]
  overQuota: readonly number[]
  keyRefused: readonly number[]
}

/** A field that counts only if it is a text: an empty beginning is one of texts alone. */
const text = (...path: string[]) => ({ path, starts_with: '' })

/**
 * Hunter's combined enrichment: a person and their company by a work address. 15 requests a second and 500 a minute; 403 is
 * the limit of rate, 429 the plan's quota, 451 a person who asked not to be shown.
 * https://hunter.io/api-documentation/v2#combined-enrichment
 */
const HUNTER: ProviderKind = {
  fixed: {
    request: {
      url: 'https://api.hunter.io/v2/combined/find?email={{contact.email}}',
      headers: [{ name: 'X-API-KEY', value: '{{secrets.api_key}}' }],
    },
    mapping: {
      contact: {
        properties: {
          firstname: text('data.person.name.givenName'),
          lastname: text('data.person.name.familyName'),
          jobtitle: text('data.person.employment.title'),
          seniority: text('data.person.employment.seniority'),
          phone: text('data.person.phone'),
          city: text('data.person.geo.city'),
          state: text('data.person.geo.state'),
          country: text('data.person.geo.country'),
        },
      },
      company: {
        domain: text('data.company.domain', 'data.person.employment.domain'),
        name: text('data.company.name', 'data.person.employment.name'),
        properties: {
          industry: text('data.company.category.industry'),
          description: text('data.company.description'),
          founded_year: { path: 'data.company.foundedYear' },
          city: text('data.company.geo.city'),
          country: text('data.company.geo.country'),
          phone: text('data.company.phone'),
        },
      },
    },
  },
  requestsPerMinute: 300,
  notFound: [404, 451],
  rateLimited: [403],
  overQuota: [429],
  keyRefused: [401],
}

/**
 * The person enrichment of People Data Labs, by an address. 100 requests a minute in the free plan; 402 is the plan's quota.
 * Fields that a plan lacks are true or false, which no text is, so they are left out.
 * https://docs.peopledatalabs.com/docs/reference-person-enrichment-api, https://docs.peopledatalabs.com/docs/errors
 */
const PEOPLE_DATA_LABS: ProviderKind = {
  fixed: {
    request: {
      url: 'https://api.peopledatalabs.com/v5/person/enrich?email={{contact.email}}&titlecase=true',
      headers: [{ name: 'X-Api-Key', value: '{{secrets.api_key}}' }],
    },
    mapping: {
      contact: {
        properties: {
          firstname: text('data.first_name'),
          lastname: text('data.last_name'),
          jobtitle: text('data.job_title'),
          linkedin_url: text('data.linkedin_url'),
          city: text('data.location_locality'),
          state: text('data.location_region'),
          country: text('data.location_country'),
        },
      },
      company: {
        domain: text('data.job_company_website'),
        name: text('data.job_company_name'),
        properties: {
          industry: text('data.job_company_industry'),
          employees_range: text('data.job_company_size'),
        },
      },
    },
  },
  requestsPerMinute: 100,
  notFound: [404],
  rateLimited: [429],
  overQuota: [402],
  keyRefused: [401, 403],
}

const HTTP: ProviderKind = {
  fixed: null,
  requestsPerMinute: 60,
  notFound: [204, 404],
  rateLimited: [429],
  overQuota: [402],
  keyRefused: [401, 403],
}

const KINDS: Readonly<Record<ProviderKindName, ProviderKind>> = {
  http: HTTP,
  hunter: HUNTER,
  people_data_labs: PEOPLE_DATA_LABS,
}

export function kindOf(name: string): ProviderKind {
  const kind = (KINDS as Record<string, ProviderKind | undefined>)[name]
  if (!kind) throw new Error(`there is no kind of enrichment providers named ${name}`)
  return kind
}
