import type { Selectable } from 'kysely'
import Type from 'typebox'
import { AnswerMapping } from '../../hooks/mapping.ts'
import { Id, Nullable, RecordError, Timestamp } from '../../platform/http/responses.ts'
import { LABEL, TEXT, WORD } from '../../platform/personal.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { kindOf, PROVIDER_KINDS, type ProviderKindName, type RequestTemplate } from './kinds.ts'
import { monthOf } from './usage.ts'

const Header = Type.Object(
  { name: Type.String(WORD), value: Type.String(TEXT) },
  { title: 'EnrichmentHeader', additionalProperties: false },
)

/** What a provider was asked in the running calendar month. */
const ProviderUsage = Type.Object(
  {
    month: Type.String({
      description: 'The calendar month, by the clock of the workspace.',
      examples: ['2026-11'],
      ...WORD,
    }),
    requests: Type.Integer({ description: 'The requests that were sent. Cached answers need none.' }),
    filled: Type.Integer({ description: 'The requests whose answers filled something.' }),
    found_nothing: Type.Integer({ description: 'The requests that brought nothing, or nothing new.' }),
    failed: Type.Integer({ description: 'The requests that failed.' }),
  },
  { title: 'EnrichmentProviderUsage' },
)

/** A provider without its secrets. */
export const EnrichmentProvider = Type.Object(
  {
    provider_id: Id,
    name: Type.String(LABEL),
    kind: Type.Enum([...PROVIDER_KINDS]),
    source: Type.String({
      description: 'The source that it fills contacts as. It stays when the name changes.',
      examples: ['enrichment:hunter'],
      ...WORD,
    }),
    position: Type.Integer({ description: 'Providers are asked in this order, from 1.' }),
    enabled: Type.Boolean(),
    url: Type.String({ description: 'The template of the URL.', ...TEXT }),
    headers: Type.Array(Header),
    mapping: AnswerMapping,
    fills: Type.Array(Type.String(WORD), {
      description:
        'What it may fill: properties of the contact, `company_id`, and `company.name` or `company.<property>`.',
    }),
    secret_names: Type.Array(Type.String(WORD), {
      description: 'The names of its secrets. Their values are never shown.',
    }),
    monthly_budget: Nullable(Type.Integer(), 'The most requests in a calendar month; null for no limit.'),
    requests_per_minute: Type.Integer(),
    cache_days: Type.Integer({ description: 'How long an answer serves the same question again.' }),
    usage: ProviderUsage,
    paused_until: Nullable(Timestamp, 'It is not asked before, because it failed repeatedly or asked for a pause.'),
    last_error: Nullable(RecordError, 'Why a request failed last.'),
    last_error_at: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'EnrichmentProvider' },
)
export type EnrichmentProvider = Type.Static<typeof EnrichmentProvider>

export const PROVIDER_COLUMNS = [
  'provider_id',
  'name',
  'kind',
  'source',
  'position',
  'is_enabled',
  'request',
  'mapping',
  'fills',
  'secrets_sealed',
  'secret_names',
  'monthly_budget',
  'requests_per_minute',
  'cache_days',
  'created_at',
  'updated_at',
] as const
export type ProviderRow = Pick<Selectable<TenantTables['enrichment_providers']>, (typeof PROVIDER_COLUMNS)[number]>

/** The request and the mapping of a provider: its kind's, or its own. */
export function definitionOf(row: { kind: string; request: unknown; mapping: unknown }) {
  const { fixed } = kindOf(row.kind)
  return fixed ?? { request: row.request as RequestTemplate, mapping: row.mapping as AnswerMapping }
}

/** Everything that a mapping can fill. */
export function fillableOf({ contact, company }: AnswerMapping): string[] {
  return [
    ...Object.keys(contact?.properties ?? {}),
    ...(company ? ['company_id'] : []),
    ...(company?.name ? ['company.name'] : []),
    ...Object.keys(company?.properties ?? {}).map((key) => `company.${key}`),
  ]
}

/** What a provider may fill: what was chosen of what its mapping has. */
export function fillsOf(row: Pick<ProviderRow, 'kind' | 'request' | 'mapping' | 'fills'>): string[] {
  const all = fillableOf(definitionOf(row).mapping)
  return row.fills === null ? all : all.filter((name) => row.fills?.includes(name))
}

/** Providers in API responses, with what they were asked this month. */
export async function toProviders(
  tenant: Tenant,
  rows: readonly ProviderRow[],
  { timeZone, now }: { timeZone: string; now: Date },
): Promise<EnrichmentProvider[]> {
  const usages = await tenant.db.selectFrom('enrichment_usage').selectAll().execute()
  const usageOf = new Map(usages.map((usage) => [usage.provider_id, usage]))
  const month = monthOf(timeZone, now)
  return rows.map((row) => {
    const { request, mapping } = definitionOf(row)
    const usage = usageOf.get(row.provider_id)
    const counts = usage?.month === month ? usage : undefined
    const until = usage?.paused_until ?? null
    return {
      provider_id: row.provider_id,
      name: row.name,
      kind: row.kind as ProviderKindName,
      source: row.source,
      position: row.position,
      enabled: row.is_enabled,
      url: request.url,
      headers: [...request.headers],
      mapping,
      fills: fillsOf(row),
      secret_names: row.secret_names,
      monthly_budget: row.monthly_budget,
      requests_per_minute: row.requests_per_minute,
      cache_days: row.cache_days,
      usage: {
        month,
        requests: counts?.requests ?? 0,
        filled: counts?.filled ?? 0,
        found_nothing: counts?.found_nothing ?? 0,
        failed: counts?.failed ?? 0,
      },
      paused_until: until !== null && until > now ? until.toISOString() : null,
      last_error: usage?.last_error_code
        ? { code: usage.last_error_code, message: usage.last_error_message ?? '' }
        : null,
      last_error_at: usage?.last_error_at?.toISOString() ?? null,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    }
  })
}
