import { namesIn } from '../operations/audit.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { REPLACED_FOR_MS } from '../platform/crypto/tokens.ts'
import { conflict, type ErrorDetail, notFound, type ServiceError, validationError } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { newId } from '../platform/ids.ts'
import { requireFewer } from '../platform/limits.ts'
import { requireName } from '../platform/names.ts'
import { announceChange } from '../platform/postgres/invalidation.ts'
import type { Tenant } from '../platform/tenant.ts'
import { createConnector, deleteConnector } from '../sources/connectors.ts'
import { parseSourceName, SOURCE_NAME_LENGTH_MAX } from '../sources/requests.ts'
import { HOOK_COLUMNS, type Hook, type HookRow, toHooks } from './hook-object.ts'
import { firstMapping, type HookKind, sourceKindOf } from './kinds.ts'
import { type Mapping, requireMapping } from './mapping.ts'
import { newToken } from './tokens.ts'

export const HOOKS_MAX = 50

/** The settings of a hook that can be changed. */
export interface HookSettings {
  name?: string | undefined
  mapping?: Mapping | undefined
  enabled?: boolean | undefined
  signing_secret?: string | undefined
  /** null: bodies are no longer signed, and the secret is removed. */
  signature_header?: string | null | undefined
}

export interface NewHook extends HookSettings {
  name: string
  kind: HookKind
  source?: string | undefined
}

/**
 * Creates a hook and adds its source to the list.
 * @returns its token.
 * @throws ServiceError 400, 409 `too_many_hooks`, `source_name_taken` or `signing_secret_required`, 503 `secret_key_missing`.
 */
export async function createHook(
  tx: Tenant,
  secrets: SecretBox,
  input: NewHook,
  now: Date,
): Promise<{ hookId: string; token: string }> {
  const { kind, mapping = firstMapping(kind) } = input
  const name = requireName(input.name)
  requireMapping(mapping)
  const message = `A tenant can have at most ${HOOKS_MAX} hooks. Delete one first.`
  const counted = tx.db.selectFrom('hooks').select(({ fn }) => fn.countAll<number>().as('count'))
  await requireFewer(tx, 'hooks', HOOKS_MAX, () => counted.executeTakeFirstOrThrow(), message)
  const hookId = newId()
  const signing = signingOf({ kind, hasSecret: false, header: null }, input)
  const isEnabled = input.enabled ?? (kind === 'custom' || signing.hasSecret)
  if (isEnabled) requireSecret(kind, signing.hasSecret)
  const source = input.source === undefined ? sourceOfName(name, hookId) : parseSourceName(input.source)
  const sourceId = await createConnector(tx, source, sourceKindOf(kind), now)
  const { token, stored } = newToken()
  const secret = input.signing_secret ?? null
  await tx.db
    .insertInto('hooks')
    .values({
      hook_id: hookId,
      name,
      kind,
      source,
      source_id: sourceId,
      is_enabled: isEnabled,
      ...stored,
      token_sealed: secrets.seal(token, hookTokenPlace(tx.id, hookId)),
      previous_token_hash: null,
      previous_token_until: null,
      secret_sealed: secret === null ? null : secrets.seal(secret, hookSecretPlace(tx.id, hookId)),
      signature_header: signing.header,
      mapping: JSON.stringify(mapping),
      created_at: now,
      updated_at: now,
    })
    .execute()
  return { hookId, token }
}

/** One page of a tenant's hooks, newest first, and the total. */
export async function listHooks(tenant: Tenant, page: Page, now: Date): Promise<{ hooks: Hook[]; total: number }> {
  const [rows, counted] = await Promise.all([
    tenant.db
      .selectFrom('hooks')
      .select(HOOK_COLUMNS)
      .orderBy('created_at', 'desc')
      .orderBy('hook_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    tenant.db
      .selectFrom('hooks')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
  ])
  return { hooks: await toHooks(tenant, rows, now), total: Number(counted.count) }
}

/** @throws ServiceError 404 */
export async function readHook(tenant: Tenant, hookId: string, now: Date): Promise<Hook> {
  const [hook] = await toHooks(tenant, [await requireHook(tenant, hookId)], now)
  if (!hook) throw notFound('hook')
  return hook
}

/** The stored row of a hook. @throws ServiceError 404 */
export async function requireHook(tenant: Tenant, hookId: string): Promise<HookRow> {
  const row = await tenant.db.selectFrom('hooks').select(HOOK_COLUMNS).where('hook_id', '=', hookId).executeTakeFirst()
  if (!row) throw notFound('hook')
  return row
}

/**
 * The token of a hook, to show its URL again.
 * @throws ServiceError 404, 503 `secret_key_missing`.
 */
export async function readHookToken(tenant: Tenant, secrets: SecretBox, hookId: string): Promise<string> {
  const row = await tenant.db
    .selectFrom('hooks')
    .select('token_sealed')
    .where('hook_id', '=', hookId)
    .executeTakeFirst()
  if (!row) throw notFound('hook')
  return secrets.open(row.token_sealed, hookTokenPlace(tenant.id, hookId))
}

/**
 * Changes the settings of a hook. @returns the names of the fields that changed.
 * @throws ServiceError 400, 404, 409 `signing_secret_required`.
 */
export async function updateHook(
  tx: Tenant,
  secrets: SecretBox,
  hookId: string,
  settings: HookSettings,
  now: Date,
): Promise<string[]> {
  const before = await lockHook(tx, hookId)
  const kind = before.kind as HookKind
  const name = settings.name === undefined ? before.name : requireName(settings.name)
  if (settings.mapping) requireMapping(settings.mapping)
  const mapping = JSON.stringify(settings.mapping ?? before.mapping)
  const known = { kind, hasSecret: before.secret_sealed !== null, header: before.signature_header }
  const { hasSecret, header } = signingOf(known, settings)
  const isEnabled = settings.enabled ?? before.is_enabled
  if (isEnabled) requireSecret(kind, hasSecret)
  const secret = settings.signing_secret
  const given = secret === undefined ? before.secret_sealed : secrets.seal(secret, hookSecretPlace(tx.id, hookId))
  const sealed = hasSecret ? given : null
  const changed = [
    ...(name === before.name ? [] : ['name']),
    ...(mapping === JSON.stringify(before.mapping) ? [] : ['mapping']),
    ...(isEnabled === before.is_enabled ? [] : ['enabled']),
    ...(sealed === before.secret_sealed ? [] : ['signing_secret']),
    ...(header === before.signature_header ? [] : ['signature_header']),
  ]
  if (changed.length === 0) return []
  await tx.db
    .updateTable('hooks')
    .set({ name, mapping, is_enabled: isEnabled, secret_sealed: sealed, signature_header: header, updated_at: now })
    .where('hook_id', '=', hookId)
    .execute()
  await announceChange(tx.db)
  return changed
}

/**
 * Replaces the token of a hook. The old token works for another day, unless it is revoked.
 * @returns the new token.
 * @throws ServiceError 404, 503 `secret_key_missing`.
 */
export async function rotateHookToken(
  tx: Tenant,
  secrets: SecretBox,
  hookId: string,
  { revokeOld }: { revokeOld: boolean },
  now: Date,
): Promise<{ token: string; oldTokenUntil: Date }> {
  await lockHook(tx, hookId)
  const { token, stored } = newToken()
  const oldTokenUntil = revokeOld ? now : new Date(now.getTime() + REPLACED_FOR_MS)
  await tx.db
    .updateTable('hooks')
    .set(({ ref }) => ({
      ...stored,
      token_sealed: secrets.seal(token, hookTokenPlace(tx.id, hookId)),
      previous_token_hash: revokeOld ? null : ref('token_hash'),
      previous_token_until: revokeOld ? null : oldTokenUntil,
      updated_at: now,
    }))
    .where('hook_id', '=', hookId)
    .execute()
  await announceChange(tx.db)
  return { token, oldTokenUntil }
}

/** Deletes a hook with its bodies, and removes its source from the list. Its records stay. @throws ServiceError 404 */
export async function deleteHook(tx: Tenant, hookId: string): Promise<{ name: string }> {
  const deleted = await tx.db
    .deleteFrom('hooks')
    .where('hook_id', '=', hookId)
    .returning(['name', 'source'])
    .executeTakeFirst()
  if (!deleted) throw notFound('hook')
  await deleteConnector(tx, deleted.source)
  await announceChange(tx.db)
  return { name: deleted.name }
}

/** Where a hook's secret is stored. It cannot be decrypted anywhere else. */
export function hookSecretPlace(tenantId: string, hookId: string): string {
  return `${tenantId}/${hookId}/hook-secret`
}

/** Where a hook's token is stored, likewise. */
export function hookTokenPlace(tenantId: string, hookId: string): string {
  return `${tenantId}/${hookId}/hook-token`
}

/** The names of hooks, for the audit log. */
export function namesOfHooks({ db }: Tenant, ids: readonly string[]) {
  return namesIn(db.selectFrom('hooks').select(['hook_id as id', 'name']).where('hook_id', 'in', ids))
}

async function lockHook(tx: Tenant, hookId: string): Promise<HookRow> {
  const row = await tx.db
    .selectFrom('hooks')
    .select(HOOK_COLUMNS)
    .where('hook_id', '=', hookId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw notFound('hook')
  return row
}

interface Signing {
  kind: HookKind
  hasSecret: boolean
  header: string | null
}

/** How bodies are signed after a change. @throws ServiceError 400 if the secret or its header is missing. */
function signingOf(before: Signing, { signing_secret: secret, signature_header: sent }: HookSettings): Signing {
  const { kind } = before
  const isRemoved = kind === 'custom' && sent === null
  const hasSecret = secret === undefined ? before.hasSecret && !isRemoved : true
  const header = sent === undefined ? before.header : (sent?.toLowerCase() ?? null)
  const details: ErrorDetail[] = []
  if (kind !== 'custom' && header !== null) {
    details.push({ path: 'signature_header', message: `is fixed for the kind ${kind}. Leave it out` })
  } else if (kind === 'custom' && hasSecret !== (header !== null)) {
    const path = hasSecret ? 'signature_header' : 'signing_secret'
    const other = hasSecret ? 'signing_secret' : 'signature_header'
    details.push({ path, message: `is required with ${other}. Set or remove both` })
  }
  if (details.length > 0) throw validationError(details)
  return { kind, hasSecret, header }
}

/** Hooks of the ready-made kinds accept only signed bodies. */
function requireSecret(kind: HookKind, hasSecret: boolean): void {
  if (kind === 'custom' || hasSecret) return
  throw secretRequired(kind)
}

function secretRequired(kind: HookKind): ServiceError {
  const message = `A hook of the kind ${kind} needs the sender's signing secret before it accepts bodies. Set signing_secret.`
  return conflict('signing_secret_required', message)
}

/** The source name that is derived from a hook's name: `Stripe (EU)` becomes `stripe-eu`. */
function sourceOfName(name: string, hookId: string): string {
  const plain = name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, SOURCE_NAME_LENGTH_MAX)
  if (slug === '') return `hook-${hookId.slice(-12)}`
  try {
    return parseSourceName(slug)
  } catch {
    return `hook-${slug}`.slice(0, SOURCE_NAME_LENGTH_MAX)
  }
}
