import { isDeepStrictEqual } from 'node:util'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { isUuid, newId } from '../platform/ids.ts'
import { requireFewer } from '../platform/limits.ts'
import type { Outbound } from '../platform/outbound/client.ts'
import { PrivateAddress, RefusedAddress } from '../platform/outbound/urls.ts'
import { announceChange } from '../platform/postgres/invalidation.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type CustomHeader, checkHeaders } from './custom-headers.ts'
import { wakeWorkers } from './queue/add.ts'
import { deleteDeliveriesOf } from './queue/delete.ts'
import type { Webhook, WebhookFormat } from './schema.ts'
import { changedUrl, headerColumns, secretPlace, urlColumns } from './sealed-columns.ts'
import { newSigningSecret } from './signature.ts'
import { checkTemplate, requireSlack } from './slack/template.ts'
import type { UrlFilter } from './url-filter.ts'
import { parseSubscriptionWhere } from './where.ts'

/** Active subscriptions of a tenant. */
const ACTIVE_MAX = 25
/** Subscriptions of a tenant, paused ones included. */
export const SUBSCRIPTIONS_MAX = 200

export interface SubscriptionSettings {
  event: string
  url: string
  url_filter?: UrlFilter | undefined
  /** As sent by the caller. */
  where?: unknown
  segment_id?: string | undefined
  headers?: readonly CustomHeader[] | undefined
  format?: WebhookFormat | undefined
  template?: string | null | undefined
}

/** Changes to a subscription; an undefined setting stays as it is. */
export interface SubscriptionChanges {
  url?: string | undefined
  /** null removes the filter. */
  url_filter?: UrlFilter | null | undefined
  /** As sent by the caller; null removes the conditions. */
  where?: unknown
  /** Replace all earlier headers. Values are never returned, so a caller could not repeat some of them. */
  headers?: readonly CustomHeader[] | undefined
  /** null: the default text for the event. */
  template?: string | null | undefined
}

/** Validates what the schema cannot. Call it outside a transaction, because DNS may be slow. @throws ServiceError 400 */
export async function checkSettings(
  { outbound }: { outbound: Pick<Outbound, 'check'> },
  { url, headers, template }: SubscriptionChanges,
): Promise<void> {
  if (headers) checkHeaders(headers)
  if (typeof template === 'string') checkTemplate(template)
  if (url === undefined) return
  await outbound.check(url).catch((error) => {
    // Most people who meet this error are trying webhooks on their own machine.
    if (error instanceof PrivateAddress) throw new RefusedAddress(`${error.message} ${ALLOW_PRIVATE}`)
    throw error
  })
}

const ALLOW_PRIVATE = 'For development, start the service with CDS_WEBHOOK_ALLOW_PRIVATE=on.'

/**
 * Creates a subscription with settings that `checkSettings` accepted. Only this response contains the secret.
 * @throws ServiceError 409 `too_many_webhook_subscriptions`, 503 `secret_key_missing`.
 */
export async function createSubscription(
  tenant: Tenant,
  secrets: SecretBox,
  {
    event,
    url,
    url_filter: filter,
    where,
    segment_id: segmentId,
    headers = [],
    format = 'json',
    template = null,
  }: SubscriptionSettings,
  now: Date,
): Promise<{ subscriptionId: string; signingSecret: string }> {
  requireSlack(format, template)
  const conditions = where === undefined ? null : JSON.stringify(parseSubscriptionWhere(where))
  const subscriptionId = newId()
  const signingSecret = newSigningSecret()
  const sealed = {
    secret_sealed: secrets.seal(signingSecret, secretPlace(tenant.id, subscriptionId)),
    ...headerColumns(tenant, secrets, subscriptionId, headers),
  }
  await tenant.transaction(async (tx) => {
    await requireFewSubscriptions(tx)
    await requireFewActive(tx)
    await tx.db
      .insertInto('webhook_subscriptions')
      .values({
        subscription_id: subscriptionId,
        event,
        ...urlColumns(tenant, secrets, subscriptionId, format, url),
        format,
        template,
        url_filter: filter ? JSON.stringify(filter) : null,
        conditions,
        only_segment_id: segmentId ?? null,
        ...sealed,
        created_at: now,
        updated_at: now,
      })
      .execute()
    await announceChange(tx.db)
  })
  return { subscriptionId, signingSecret }
}

/**
 * Changes a subscription to settings that `checkSettings` accepted. Pending deliveries are sent to the new URL.
 * @returns the names of the changed fields. Headers always count as changed, because their values are sealed.
 * @throws ServiceError 404, 503 `secret_key_missing`.
 */
export async function updateSubscription(
  tenant: Tenant,
  secrets: SecretBox,
  subscriptionId: string,
  { url: newUrl, url_filter: filter, where: sentWhere, headers, template }: SubscriptionChanges,
  now: Date,
): Promise<string[]> {
  const id = idOf(subscriptionId)
  const before = await requireSubscription(tenant, id)
  requireSlack(before.format, template)
  const where = sentWhere == null ? sentWhere : parseSubscriptionWhere(sentWhere)
  const url = newUrl === undefined ? undefined : changedUrl(tenant, secrets, before, newUrl)
  const changed = [
    ...(url === undefined ? [] : ['url']),
    ...(filter === undefined || isDeepStrictEqual(filter, before.url_filter) ? [] : ['url_filter']),
    ...(where === undefined || isDeepStrictEqual(where, before.conditions) ? [] : ['where']),
    ...(headers === undefined ? [] : ['headers']),
    ...(template === undefined || template === before.template ? [] : ['template']),
  ]
  if (changed.length === 0) return []
  await tenant.db
    .updateTable('webhook_subscriptions')
    .set({
      ...(url === undefined ? {} : urlColumns(tenant, secrets, id, before.format, url)),
      ...(filter === undefined ? {} : { url_filter: filter === null ? null : JSON.stringify(filter) }),
      ...(where === undefined ? {} : { conditions: where === null ? null : JSON.stringify(where) }),
      ...(headers === undefined ? {} : headerColumns(tenant, secrets, id, headers)),
      ...(template === undefined ? {} : { template }),
      updated_at: now,
    })
    .where('subscription_id', '=', id)
    .execute()
  await announceChange(tenant.db)
  return changed
}

/** A page of a tenant's subscriptions, newest first, and how many there are. */
export async function listSubscriptions(tenant: Tenant, page: Page): Promise<{ webhooks: Webhook[]; total: number }> {
  const [rows, counted] = await Promise.all([
    selectSubscriptions(tenant)
      .orderBy('created_at', 'desc')
      .orderBy('subscription_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    countSubscriptions(tenant).executeTakeFirstOrThrow(),
  ])
  return { webhooks: rows.map(toWebhook), total: counted.count }
}

/** @throws ServiceError 404 */
export async function readSubscription(tenant: Tenant, subscriptionId: string): Promise<Webhook> {
  const row = await selectSubscriptions(tenant).where('subscription_id', '=', idOf(subscriptionId)).executeTakeFirst()
  if (!row) throw notFound('webhook subscription')
  return toWebhook(row)
}

/** What subscriptions send where, for the audit log. */
export async function namesOfSubscriptions({ db }: Tenant, ids: readonly string[]) {
  const columns = ['subscription_id', 'event', 'url'] as const
  const rows = await db
    .selectFrom('webhook_subscriptions')
    .select(columns)
    .where('subscription_id', 'in', ids)
    .execute()
  return new Map(
    rows.map(({ subscription_id, event, url }) => [subscription_id, `${event} → ${URL.parse(url)?.host ?? url}`]),
  )
}

function selectSubscriptions(tenant: Tenant) {
  return tenant.db
    .selectFrom('webhook_subscriptions')
    .select([
      'subscription_id',
      'event',
      'url',
      'url_filter',
      'conditions',
      'only_segment_id',
      'header_names',
      'paused_at',
    ])
    .select(['previous_until', 'created_at', 'updated_at', 'format', 'template'])
}

type SubscriptionRow = Awaited<ReturnType<ReturnType<typeof selectSubscriptions>['executeTakeFirstOrThrow']>>

function toWebhook(row: SubscriptionRow): Webhook {
  return {
    subscription_id: row.subscription_id,
    event: row.event,
    url: row.url,
    format: row.format as WebhookFormat,
    template: row.template,
    url_filter: row.url_filter as UrlFilter | null,
    where: row.conditions as unknown as Webhook['where'],
    segment_id: row.only_segment_id,
    header_names: row.header_names,
    status: row.paused_at === null ? 'active' : 'paused',
    previous_secret_until: row.previous_until?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/**
 * Stops deliveries, including retries, until the subscription is resumed. @returns the names of the fields that changed.
 * @throws ServiceError 404
 */
export async function pauseSubscription(tenant: Tenant, subscriptionId: string, now: Date): Promise<string[]> {
  const id = idOf(subscriptionId)
  await requireSubscription(tenant, id)
  const { numUpdatedRows } = await tenant.db
    .updateTable('webhook_subscriptions')
    .set({ paused_at: now, updated_at: now })
    .where('subscription_id', '=', id)
    .where('paused_at', 'is', null)
    .executeTakeFirstOrThrow()
  await announceChange(tenant.db)
  return numUpdatedRows > 0n ? ['status'] : []
}

/**
 * Resumes deliveries. @returns the names of the fields that changed.
 * @throws ServiceError 404, or 409 `too_many_webhook_subscriptions`.
 */
export async function resumeSubscription(tenant: Tenant, subscriptionId: string, now: Date): Promise<string[]> {
  const id = idOf(subscriptionId)
  return tenant.transaction(async (tx) => {
    const { paused_at } = await requireSubscription(tx, id)
    if (paused_at === null) return []
    await requireFewActive(tx)
    await tx.db
      .updateTable('webhook_subscriptions')
      .set({ paused_at: null, updated_at: now })
      .where('subscription_id', '=', id)
      .execute()
    await announceChange(tx.db)
    await wakeWorkers(tx)
    return ['status']
  })
}

/**
 * Deletes a subscription with its deliveries and their attempts. Repeat it if it deadlocks with the workers that send
 * those.
 * @throws ServiceError 404
 */
export async function deleteSubscription(tenant: Tenant, subscriptionId: string): Promise<void> {
  const id = idOf(subscriptionId)
  await tenant.transaction(async (tx) => {
    const { numDeletedRows } = await tx.db
      .deleteFrom('webhook_subscriptions')
      .where('subscription_id', '=', id)
      .executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) throw notFound('webhook subscription')
    await announceChange(tx.db)
    await deleteDeliveriesOf(tx, id)
  })
}

/** The stored row of a subscription. @throws ServiceError 404 */
export async function requireSubscription(tenant: Tenant, subscriptionId: string) {
  const row = await tenant.db
    .selectFrom('webhook_subscriptions')
    .selectAll()
    .where('subscription_id', '=', idOf(subscriptionId))
    .executeTakeFirst()
  if (!row) throw notFound('webhook subscription')
  return row
}

/** @throws ServiceError 409 `too_many_webhook_subscriptions` */
async function requireFewSubscriptions(tx: Tenant): Promise<void> {
  const all = countSubscriptions(tx)
  const message = `A tenant can have at most ${SUBSCRIPTIONS_MAX} webhook subscriptions, including paused ones. Delete one first.`
  await requireFewer(tx, 'webhook_subscriptions', SUBSCRIPTIONS_MAX, () => all.executeTakeFirstOrThrow(), message)
}

/** @throws ServiceError 409 `too_many_webhook_subscriptions` */
async function requireFewActive(tx: Tenant): Promise<void> {
  const active = countSubscriptions(tx).where('paused_at', 'is', null)
  const message = `A tenant can have at most ${ACTIVE_MAX} active webhook subscriptions. Pause or delete one first.`
  await requireFewer(tx, 'webhook_subscriptions', ACTIVE_MAX, () => active.executeTakeFirstOrThrow(), message)
}

function countSubscriptions(tenant: Tenant) {
  return tenant.db.selectFrom('webhook_subscriptions').select(({ fn }) => fn.countAll<number>().as('count'))
}

function idOf(text: string): string {
  if (!isUuid(text)) throw notFound('webhook subscription')
  return text.toLowerCase()
}
