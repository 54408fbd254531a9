import { readTenant } from '../../access/tenants.ts'
import { OF_PROVIDER } from '../../contacts/writing/source-records.ts'
import { type AnswerMapping, requireMapping } from '../../hooks/mapping.ts'
import { namesIn } from '../../operations/audit.ts'
import { cached } from '../../platform/cache.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { type ErrorDetail, notFound, validationError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { requireFewer } from '../../platform/limits.ts'
import { requireName } from '../../platform/names.ts'
import type { Outbound } from '../../platform/outbound/client.ts'
import { announceChange, type Invalidation } from '../../platform/postgres/invalidation.ts'
import { lock } from '../../platform/postgres/locks.ts'
import { replaceVariables } from '../../platform/templates.ts'
import { openTenant, type Stores, type Tenant } from '../../platform/tenant.ts'
import { checkHeaders } from '../../webhooks/custom-headers.ts'
import { kindOf, type ProviderKind, type ProviderKindName, type RequestTemplate } from './kinds.ts'
import {
  definitionOf,
  type EnrichmentProvider,
  fillableOf,
  fillsOf,
  PROVIDER_COLUMNS,
  type ProviderRow,
  toProviders,
} from './provider-object.ts'
import { inputsOf, problemOfTemplate, secretNamesIn } from './question.ts'
import { openSecrets, type Secrets, sealSecrets, secretsAfter, secretsPlace } from './secrets.ts'
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

/** Settings of a provider that can be changed. */
export interface ProviderSettings {
  name?: string | undefined
  enabled?: boolean | undefined
  url?: string | undefined
  headers?: RequestTemplate['headers'] | undefined
  mapping?: AnswerMapping | undefined
  /** null: all that the mapping has. */
  fills?: string[] | null | undefined
  /** By name; null removes one. Those that are left out stay. */
  secrets?: Record<string, string | null> | undefined
  monthly_budget?: number | null | undefined
  requests_per_minute?: number | undefined
  cache_days?: number | undefined
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

/** Sets the order in which providers are asked. @throws ServiceError 400 unless the ids are those of all providers. */
export async function orderProviders(tx: Tenant, providerIds: readonly string[], now: Date): Promise<void> {
  await lock(tx.db, 'enrichment_providers', tx.id)
  const rows = await readRows(tx)
  const wanted = providerIds.map((id) => id.toLowerCase())
  const isAll = new Set(wanted).size === wanted.length && rows.length === wanted.length
  if (!isAll || !rows.every(({ provider_id }) => wanted.includes(provider_id))) {
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

/** Checks the URL of a provider, and that its host is a public one. @throws ServiceError 400, RefusedAddress */
export async function checkUrlTemplate(outbound: Pick<Outbound, 'check'>, url: string): Promise<void> {
  const details = problemsOfUrl(url)
  if (details.length > 0) throw validationError(details)
  await outbound.check(addressOf(url))
}

/** The URL without its variables, which are behind the host. */
function addressOf(url: string): string {
  return replaceVariables(url, () => 'x')
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

/** The request and the mapping of a provider that has its own; null for a kind with fixed ones. @throws ServiceError 400 */
function ownDefinition(
  kind: ProviderKindName,
  settings: ProviderSettings,
  before: ReturnType<typeof definitionOf> | null,
): { request: RequestTemplate; mapping: AnswerMapping } | null {
  const fields = ['url', 'headers', 'mapping'] as const
  if (kindOf(kind).fixed !== null) {
    const details = fields.flatMap((path) =>
      settings[path] === undefined ? [] : [{ path, message: `is fixed for the kind ${kind}. Leave it out` }],
    )
    if (details.length > 0) throw validationError(details)
    return null
  }
  const { url = before?.request.url, headers = before?.request.headers ?? [], mapping = before?.mapping } = settings
  const details: ErrorDetail[] = []
  if (url === undefined) details.push({ path: 'url', message: 'is required for the kind http' })
  if (mapping === undefined) details.push({ path: 'mapping', message: 'is required for the kind http' })
  if (url === undefined || mapping === undefined) throw validationError(details)
  details.push(...problemsOfUrl(url))
  for (const [index, { value }] of headers.entries()) {
    const message = problemOfTemplate(value)
    if (message !== null) details.push({ path: `headers[${index}].value`, message })
  }
  if (Object.hasOwn(mapping.contact?.properties ?? {}, 'email')) {
    details.push({
      path: 'mapping.contact.properties.email',
      message: 'cannot be filled: contacts are identified by it',
    })
  }
  if (fillableOf(mapping).length === 0) details.push({ path: 'mapping', message: 'must fill something' })
  if (details.length > 0) throw validationError(details)
  checkHeaders(headers)
  requireMapping(mapping)
  return { request: { url, headers }, mapping }
}

function problemsOfUrl(url: string): ErrorDetail[] {
  const problem = problemOfTemplate(url)
  if (problem !== null) return [{ path: 'url', message: problem }]
  const host = url.slice(0, url.indexOf('{{') === -1 ? undefined : url.indexOf('{{'))
  // A value of a contact must not choose the system that gets the secrets.
  if (!/^https:\/\/[^/?#\\{}]+[/?#]/.test(host) && !/^https:\/\/[^/?#\\{}]+$/.test(url)) {
    return [{ path: 'url', message: 'must begin with https:// and a host, and have variables only behind the host' }]
  }
  return []
}

/** @throws ServiceError 400 for secrets that the request needs and the provider lacks */
function requireSecrets(request: RequestTemplate, secrets: Secrets): void {
  const missing = secretNamesIn(request).filter((name) => !Object.hasOwn(secrets, name))
  if (missing.length === 0) return
  throw validationError(missing.map((name) => ({ path: `secrets.${name}`, message: 'is required by the request' })))
}

/**
 * A secret that is kept goes to the system that it was given for, and to no other.
 * @throws ServiceError 400 if a new host would get one
 */
function requireSecretsForHost(
  before: RequestTemplate,
  after: RequestTemplate,
  known: Secrets,
  sent: Readonly<Record<string, string | null>>,
): void {
  const originOf = ({ url }: RequestTemplate) => new URL(addressOf(url)).origin
  if (originOf(before) === originOf(after)) return
  const kept = Object.keys(known).filter((name) => !Object.hasOwn(sent, name))
  if (kept.length === 0) return
  const message = 'must be sent again, or removed with null, because the URL has another host'
  throw validationError(kept.map((name) => ({ path: `secrets.${name}`, message })))
}

function requireFills(mapping: AnswerMapping, fills: readonly string[] | null | undefined): void {
  const all = fillableOf(mapping)
  const unknown = (fills ?? []).find((name) => !all.includes(name))
  if (unknown === undefined) return
  throw validationError([
    { path: 'fills', message: `has a name that the mapping does not fill. Use ${all.join(', ')}` },
  ])
}

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
