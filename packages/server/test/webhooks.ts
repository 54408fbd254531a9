import { setTimeout as sleep } from 'node:timers/promises'
import { addVerifiedDomain } from '../src/access/domains-of-tenant.ts'
import { createTenant } from '../src/access/tenants.ts'
import type { ServiceOptions } from '../src/assembly/service.ts'
import { newId } from '../src/platform/ids.ts'
import { openTenant, type Tenant } from '../src/platform/tenant.ts'
import { listDeliveries } from '../src/webhooks/deliveries.ts'
import type { WebhookDelivery } from '../src/webhooks/schema.ts'
import { createSubscription, type SubscriptionSettings } from '../src/webhooks/subscriptions.ts'
import { type DnsServer, startDnsServer } from './dns-server.ts'
import { type Certificate, makeCertificate, type Received, type Receiver, startReceiver } from './receiver.ts'
import { call, startTestService, type TestService, type TestTenant } from './service.ts'

/** A service whose clock can be moved, with a receiver that its webhooks reach under several names. */
export interface WebhookBench {
  service: TestService
  receiver: Receiver
  dns: DnsServer
  certificate: Certificate
  /** Moves the service's clock forward. */
  pass(milliseconds: number): void
  /** The time of the service's clock. */
  now(): Date
  /** Subscribes, and waits until the collector's cache has the subscription. */
  subscribe(
    tenant: TestTenant,
    settings?: Partial<SubscriptionSettings>,
  ): Promise<{ subscriptionId: string; signingSecret: string }>
  close(): Promise<void>
}

/** Starts a service with a receiver. */
export async function startWebhookBench(
  environment: Record<string, string> = {},
  options: Pick<ServiceOptions, 'silentAfterMs'> = {},
): Promise<WebhookBench> {
  const dns = await startDnsServer()
  for (const name of ['hooks.example', 'other.example', 'slow.hooks.example']) dns.zone.set(name, ['127.0.0.1'])
  const certificate = makeCertificate()
  const receiver = await startReceiver(certificate)
  let shift = 0
  const now = () => new Date(Date.now() + shift)
  const outbound = { resolve: dns.resolve, ca: certificate.certificate }
  const service = await startTestService(
    { CDS_WEBHOOK_ALLOW_PRIVATE: '1', ...environment },
    { ...options, clock: now, outbound },
  )
  return {
    service,
    receiver,
    dns,
    certificate,
    now,
    pass: (milliseconds) => {
      shift += milliseconds
      service.deliveryWorker.wake()
    },
    subscribe: async (tenant, settings = {}) => {
      const wanted = { event: 'page_view', url: receiver.url(), ...settings }
      const made = await createSubscription(tenant.handle, service.secrets, wanted, now())
      await changesAreKnown(service)
      return made
    },
    close: async () => {
      await service.close()
      await receiver.close()
      dns.close()
    },
  }
}

/** Waits until the service has emptied its caches, which it does a moment after the commit of a change. */
export async function changesAreKnown(service: TestService): Promise<void> {
  const tenantId = await createTenant(service.stores, { name: 'Announced' }, { kind: 'command_line' }, new Date())
  const host = `${newId()}.example`
  const requireStatus = async (expected: number) => {
    const headers = { origin: `https://${host}`, 'access-control-request-method': 'POST' }
    const { status } = await call(service, 'OPTIONS', `/v1/public/form-submission/${tenantId}/f`, { headers })
    if (status !== expected) throw new Error(`the preflight of ${host} is ${status}, not ${expected}`)
  }
  // Now it is cached that the host belongs to no tenant.
  await requireStatus(403)
  await addVerifiedDomain(openTenant(service.stores, tenantId), host, new Date())
  await until(() => requireStatus(204))
}

/** Repeats `check` until it succeeds. @throws its last error when the time is over. */
export async function until<T>(check: () => T | Promise<T>, withinMs = 180_000): Promise<T> {
  const endsAt = Date.now() + withinMs
  // What takes long is checked less often: each check costs the processor time that others wait for.
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.5, 250)) {
    try {
      return await check()
    } catch (error) {
      if (Date.now() > endsAt) throw error
      await sleep(pauseMs)
    }
  }
}

/**
 * Waits until there are this many of something. A slow machine may take its time: it is over only when nothing new comes.
 * @throws Error if nothing new came for that long
 */
export async function untilThere(count: () => Promise<number>, wanted: number, stallsAfterMs = 120_000): Promise<void> {
  let most = 0
  let endsAt = Date.now() + stallsAfterMs
  for (;;) {
    const found = await count()
    if (found >= wanted) return
    if (found > most) {
      most = found
      endsAt = Date.now() + stallsAfterMs
    }
    if (Date.now() > endsAt) throw new Error(`${found} of ${wanted} are there, and for a while nothing new came`)
    await sleep(50)
  }
}

/** The requests to a path, once this many have arrived. */
export function arrived(receiver: Receiver, path: string, count: number): Promise<Received[]> {
  return until(() => {
    const found = receiver.received.filter((each) => each.path === path)
    if (found.length < count) throw new Error(`${found.length} of ${count} requests arrived under ${path}`)
    return found
  })
}

/** A subscription's deliveries, newest first, at most a hundred. */
export async function deliveriesOf(
  handle: Tenant,
  subscriptionId: string,
  status?: WebhookDelivery['status'],
): Promise<WebhookDelivery[]> {
  const { deliveries } = await listDeliveries(handle, subscriptionId, status, { page: 1, limit: 100 })
  return deliveries
}

/** A subscription's only delivery, once it has this many attempts. */
export function attempted(tenant: TestTenant, subscriptionId: string, count: number): Promise<WebhookDelivery> {
  return until(async () => {
    const deliveries = await deliveriesOf(tenant.handle, subscriptionId)
    const [delivery] = deliveries
    if (!delivery || deliveries.length > 1) throw new Error(`${deliveries.length} deliveries`)
    if (delivery.attempts.length !== count) throw new Error(`${delivery.attempts.length} of ${count} attempts`)
    return delivery
  })
}

/** Adds a delivery with this many attempts, as a worker leaves it. A pending one is never due. */
export function addDelivery(
  handle: Tenant,
  { subscriptionId, createdAt }: { subscriptionId: string; createdAt: Date },
  status: WebhookDelivery['status'],
  { attempts = 1, attemptsBefore = 0 }: { attempts?: number; attemptsBefore?: number } = {},
): Promise<string> {
  const deliveryId = newId()
  const never = new Date('2100-01-01')
  return handle.transaction(async (tx) => {
    const ids = { delivery_id: deliveryId, subscription_id: subscriptionId }
    const times = { due_at: createdAt, created_at: createdAt, attempts_before: attemptsBefore }
    const event = { event_id: deliveryId, event: 'page_view', payload: '{"again":true}' }
    await tx.db
      .insertInto('webhook_deliveries')
      .values({ ...ids, ...event, ...times })
      .execute()
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const isLast = attempt === attempts && status !== 'pending'
      const error = isLast && status === 'succeeded' ? null : 'failed'
      const line = { attempt, at: createdAt, latency_ms: 1, error, is_last: isLast }
      await tx.db
        .insertInto('webhook_attempts')
        .values({ ...ids, ...line })
        .execute()
    }
    if (status === 'pending') {
      const row = { subscription_id: subscriptionId, due_at: never, batch_id: newId(), attempt: attempts + 1 }
      await tx.db
        .insertInto('webhook_queue')
        .values({ ...row, delivery_ids: [deliveryId] })
        .execute()
    }
    return deliveryId
  })
}
