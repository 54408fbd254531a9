import { readTenant } from '../../access/tenants.ts'
import { OF_PROVIDER } from '../../contacts/writing/source-records.ts'
import type { AnswerMapping } from '../../hooks/mapping.ts'
import { namesIn } from '../../operations/audit.ts'
import { cached } from '../../platform/cache.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { notFound, validationError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { requireFewer } from '../../platform/limits.ts'
import { requireName } from '../../platform/names.ts'
import { announceChange, type Invalidation } from '../../platform/postgres/invalidation.ts'
import { lock } from '../../platform/postgres/locks.ts'
import { replaceVariables } from '../../platform/templates.ts'
import { openTenant, type Stores, type Tenant } from '../../platform/tenant.ts'
import { kindOf, type ProviderKind, type ProviderKindName, type RequestTemplate } from './kinds.ts'
import {
  definitionOf,
  type EnrichmentProvider,
  fillsOf,
  PROVIDER_COLUMNS,
  type ProviderRow,
  toProviders,
} from './provider-object.ts'
import { inputsOf } from './question.ts'
import { openSecrets, type Secrets, sealSecrets, secretsAfter, secretsPlace } from './secrets.ts'
import {
  ownDefinition,
  type ProviderSettings,
  requireFills,
  requireSecrets,
  requireSecretsForHost,
} from './settings.ts'
import { endPause } from './usage.ts'

export const PROVIDERS_MAX = 20
const SLUG_LENGTH_MAX = 50
export const CACHE_DAYS_DEFAULT = 90

/** A provider that can be asked. */
export interface Provider {
  providerId: string
  name: string
  kind: ProviderKind
  source: string
  request: RequestTemplate
  mapping: AnswerMapping
  /** What it may fill, see `fillableOf`. */
  fills: string[]
  secrets: Secrets
  monthlyBudget: number | null
  requestsPerMinute: number
  cacheDays: number
}

/** What opening a provider needs. */
interface Opening {
  secrets: SecretBox
  connecting: { connectorUrls: Readonly<Record<string, string>> }
}

/** The providers that are on, in their order. */
export async function enabledProviders(tenant: Tenant, opening: Opening): Promise<Provider[]> {
  const rows = await readRows(tenant)
  return rows.filter(({ is_enabled }) => is_enabled).map((row) => openProvider(tenant, opening, row))
}

/** A provider with its secrets. @throws ServiceError 404 */
export async function findProvider(tenant: Tenant, opening: Opening, providerId: string): Promise<Provider> {
  return openProvider(tenant, opening, await requireRow(tenant, providerId))
}

function openProvider(tenant: Tenant, { secrets, connecting }: Opening, row: ProviderRow): Provider {
  const { request, mapping } = definitionOf(row)
  const replaced = kindOf(row.kind).fixed === null ? undefined : connecting.connectorUrls[row.kind]
  const { origin } = new URL(replaceVariables(request.url, () => ''))
  return {
    providerId: row.provider_id,
    name: row.name,
    kind: kindOf(row.kind),
    source: row.source,
    request: replaced === undefined ? request : { ...request, url: replaced + request.url.slice(origin.length) },
    mapping,
    fills: fillsOf(row),
    secrets: openSecrets(secrets, secretsPlace(tenant.id, row.provider_id), row.secrets_sealed),
    monthlyBudget: row.monthly_budget,
    requestsPerMinute: row.requests_per_minute,
    cacheDays: row.cache_days,
  }
}

/** The keys of contacts whose change is a reason to ask a provider that is on; none without one. */
export async function providerInputs(tenant: Tenant): Promise<ReadonlySet<string>> {
  const enabled = (await readRows(tenant)).filter(({ is_enabled: isEnabled }) => isEnabled)
  // A request without variables depends on nothing that changes; it is a reason to look at new contacts.
  return new Set(enabled.flatMap((row) => ['contact_id', ...inputsOf(definitionOf(row).request)]))
}

/** `providerInputs` in a running service, which caches them: every write of contacts asks. */
export function createProviderLookup(
  stores: Stores,
  invalidation: Pick<Invalidation, 'listening' | 'onChange'>,
): (tenant: Tenant) => Promise<ReadonlySet<string>> {
  const find = cached(invalidation, (tenantId) => providerInputs(openTenant(stores, tenantId)))
  return ({ id }) => find(id)
}

/** The names of providers, for the audit log. */
export function namesOfProviders({ db }: Tenant, ids: readonly string[]) {
  return namesIn(
    db.selectFrom('enrichment_providers').select(['provider_id as id', 'name']).where('provider_id', 'in', ids),
  )
}

/** All providers of a tenant, in their order. */
export async function listProviders(tenant: Tenant, now: Date): Promise<EnrichmentProvider[]> {
  const [rows, { timeZone }] = await Promise.all([readRows(tenant), readTenant(tenant)])
  return toProviders(tenant, rows, { timeZone, now })
}

/** @throws ServiceError 404 */
export async function readProvider(tenant: Tenant, providerId: string, now: Date): Promise<EnrichmentProvider> {
  const row = await requireRow(tenant, providerId)
  const { timeZone } = await readTenant(tenant)
  const [provider] = await toProviders(tenant, [row], { timeZone, now })
  if (!provider) throw notFound('enrichment provider')
  return provider
}

/**
 * Creates a provider, which is asked after those that exist. @returns its id.
 * @throws ServiceError 400, 409 `too_many_enrichment_providers`, 503 `secret_key_missing`.
 */
export async function createProvider(
  tx: Tenant,
  box: SecretBox,
  { kind, ...settings }: ProviderSettings & { kind: ProviderKindName; name: string },
  now: Date,
): Promise<string> {
  const name = requireName(settings.name)
  const providerId = newId()
  const message = `A workspace can have at most ${PROVIDERS_MAX} enrichment providers. Delete one first.`
  const counted = tx.db.selectFrom('enrichment_providers').select(({ fn }) => fn.countAll<number>().as('count'))
  await requireFewer(tx, 'enrichment_providers', PROVIDERS_MAX, () => counted.executeTakeFirstOrThrow(), message)
  const others = await readRows(tx)
  const own = ownDefinition(kind, settings, null)
  const secrets = secretsAfter({}, settings.secrets ?? {})
  const row = { kind, request: own?.request ?? null, mapping: own?.mapping ?? null }
  const definition = definitionOf(row)
  requireSecrets(definition.request, secrets)
  requireFills(definition.mapping, settings.fills)
  await tx.db
    .insertInto('enrichment_providers')
    .values({
      provider_id: providerId,
      name,
      kind,
      source: sourceOf(name, providerId, new Set(others.map(({ source }) => source))),
      position: Math.max(0, ...others.map(({ position }) => position)) + 1,
      is_enabled: settings.enabled ?? true,
      request: own && JSON.stringify(own.request),
      mapping: own && JSON.stringify(own.mapping),
      fills: settings.fills ?? null,
      secrets_sealed: sealSecrets(box, secretsPlace(tx.id, providerId), secrets),
      secret_names: Object.keys(secrets).sort(),
      monthly_budget: settings.monthly_budget ?? null,
      requests_per_minute: settings.requests_per_minute ?? kindOf(kind).requestsPerMinute,
      cache_days: settings.cache_days ?? CACHE_DAYS_DEFAULT,
      created_at: now,
      updated_at: now,
    })
    .execute()
  await announceChange(tx.db)
  return providerId
}

/**
 * Changes the settings of a provider. @returns the names of the fields that changed.
 * @throws ServiceError 400, 404, 503 `secret_key_missing`.
 */
export async function updateProvider(
  tx: Tenant,
  box: SecretBox,
  providerId: string,
  settings: ProviderSettings,
  now: Date,
): Promise<string[]> {
  const before = await tx.db
    .selectFrom('enrichment_providers')
    .select(PROVIDER_COLUMNS)
    .where('provider_id', '=', providerId)
    .forUpdate()
    .executeTakeFirst()
  if (!before) throw notFound('enrichment provider')
  const place = secretsPlace(tx.id, before.provider_id)
  const own = ownDefinition(before.kind as ProviderKindName, settings, definitionOf(before))
  const definition = own ?? definitionOf(before)
  const known = openSecrets(box, place, before.secrets_sealed)
  requireSecretsForHost(definitionOf(before).request, definition.request, known, settings.secrets ?? {})
  const secrets = secretsAfter(known, settings.secrets ?? {})
  requireSecrets(definition.request, secrets)
  const fills = settings.fills === undefined ? before.fills : settings.fills
  requireFills(definition.mapping, fills)
  const isNewSecret = JSON.stringify(sorted(secrets)) !== JSON.stringify(sorted(known))
  const after = {
    name: settings.name === undefined ? before.name : requireName(settings.name),
    is_enabled: settings.enabled ?? before.is_enabled,
    request: own && JSON.stringify(own.request),
    mapping: own && JSON.stringify(own.mapping),
    fills,
    monthly_budget: settings.monthly_budget === undefined ? before.monthly_budget : settings.monthly_budget,
    requests_per_minute: settings.requests_per_minute ?? before.requests_per_minute,
    cache_days: settings.cache_days ?? before.cache_days,
  }
  const stored = definitionOf(before)
  const isOther = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other)
  const changed = [
    ...(after.name === before.name ? [] : ['name']),
    ...(after.is_enabled === before.is_enabled ? [] : ['enabled']),
    ...(definition.request.url === stored.request.url ? [] : ['url']),
    ...(isOther(definition.request.headers, stored.request.headers) ? ['headers'] : []),
    ...(isOther(definition.mapping, stored.mapping) ? ['mapping'] : []),
    ...(isOther(fills, before.fills) ? ['fills'] : []),
    ...(isNewSecret ? ['secrets'] : []),
    ...(after.monthly_budget === before.monthly_budget ? [] : ['monthly_budget']),
    ...(after.requests_per_minute === before.requests_per_minute ? [] : ['requests_per_minute']),
    ...(after.cache_days === before.cache_days ? [] : ['cache_days']),
  ]
  if (changed.length === 0) return []
  const sealed = isNewSecret ? sealSecrets(box, place, secrets) : before.secrets_sealed
  await tx.db
    .updateTable('enrichment_providers')
    .set({ ...after, secrets_sealed: sealed, secret_names: Object.keys(secrets).sort(), updated_at: now })
    .where('provider_id', '=', providerId)
    .execute()
  await endPause(tx, providerId)
  await announceChange(tx.db)
  return changed
}

/** Sets the order in which providers are asked. @throws ServiceError 404, 400 unless each provider is named once. */
export async function orderProviders(tx: Tenant, providerIds: readonly string[], now: Date): Promise<void> {
  await lock(tx.db, 'enrichment_providers', tx.id)
  const rows = await readRows(tx)
  const wanted = providerIds.map((id) => id.toLowerCase())
  const known = new Set(rows.map(({ provider_id }) => provider_id))
  if (wanted.some((id) => !known.has(id))) throw notFound('enrichment provider')
  if (new Set(wanted).size !== wanted.length || rows.length !== wanted.length) {
    const message = `must have the id of each of the ${rows.length} enrichment providers once`
    throw validationError([{ path: 'provider_ids', message }])
  }
  for (const [index, provider_id] of wanted.entries()) {
    await tx.db
      .updateTable('enrichment_providers')
      .set({ position: index + 1, updated_at: now })
      .where('provider_id', '=', provider_id)
      .where('position', '!=', index + 1)
      .execute()
  }
  await announceChange(tx.db)
}

/** Deletes a provider with its answers. What it filled stays, with its source. @throws ServiceError 404 */
export async function deleteProvider(tx: Tenant, providerId: string): Promise<{ name: string }> {
  const deleted = await tx.db
    .deleteFrom('enrichment_providers')
    .where('provider_id', '=', providerId)
    .returning('name')
    .executeTakeFirst()
  if (!deleted) throw notFound('enrichment provider')
  await announceChange(tx.db)
  return deleted
}

function readRows(tenant: Tenant): Promise<ProviderRow[]> {
  return tenant.db
    .selectFrom('enrichment_providers')
    .select(PROVIDER_COLUMNS)
    .orderBy('position')
    .orderBy('provider_id')
    .execute()
}

async function requireRow(tenant: Tenant, providerId: string): Promise<ProviderRow> {
  const row = await tenant.db
    .selectFrom('enrichment_providers')
    .select(PROVIDER_COLUMNS)
    .where('provider_id', '=', providerId)
    .executeTakeFirst()
  if (!row) throw notFound('enrichment provider')
  return row
}

const sorted = (secrets: Secrets) => Object.entries(secrets).sort(([one], [other]) => (one < other ? -1 : 1))

/** The source of a provider, from its name: `Acme Data` is `enrichment:acme-data`. */
function sourceOf(name: string, providerId: string, taken: ReadonlySet<string>): string {
  const plain = name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, SLUG_LENGTH_MAX)
  const end = providerId.slice(-6)
  if (slug === '') return `${OF_PROVIDER}${end}`
  return taken.has(OF_PROVIDER + slug) ? `${OF_PROVIDER}${slug}-${end}` : OF_PROVIDER + slug
}
