import { openSecretBox } from '../platform/crypto/secret-key.ts'
import { ServiceError } from '../platform/errors.ts'
import { createOutbound } from '../platform/outbound/client.ts'
import type { Tenant } from '../platform/tenant.ts'
import { parseTimestamp } from '../platform/time.ts'
import { eventCatalogue } from '../webhooks/catalogue.ts'
import { parseHeader } from '../webhooks/custom-headers.ts'
import { type Delivery, listDeliveries, readDelivery } from '../webhooks/deliveries.ts'
import { subscriptionHealth } from '../webhooks/health.ts'
import { resendDelivery, resendFailed, sendTest } from '../webhooks/resend.ts'
import { rotateSecret } from '../webhooks/rotate-secret.ts'
import {
  createSubscription,
  deleteSubscription,
  listSubscriptions,
  pauseSubscription,
  resumeSubscription,
} from '../webhooks/subscriptions.ts'
import { about, audited } from './audited.ts'
import { type Command, existingTenant, jsonOf, numberOf, optional, required, tenant, type Values } from './command.ts'
import type { Session } from './session.ts'

const webhook = required('SUBSCRIPTION_ID')

const STATUSES = ['pending', 'succeeded', 'failed'] as const

/** What `cdsctl webhook …` can do. */
export const WEBHOOK_COMMANDS: Record<string, Command> = {
  'webhook create': {
    summary: 'Subscribe a URL to an event type; the signing secret is shown this once',
    options: {
      tenant,
      event: required('EVENT'),
      url: required('https://…'),
      'url-filter': optional('JSON'),
      header: { type: 'string', multiple: true, hint: "'Name: value'" },
    },
    run: async (session, values, now) => {
      const subscriber = await tenantOf(session, values)
      const outbound = createOutbound({ allowPrivate: session.config.webhookAllowPrivate })
      try {
        const dependencies = { secrets: await openSecretBox(session.config), outbound }
        const settings = {
          event: String(values.event),
          url: String(values.url),
          ...(values['url-filter'] === undefined ? {} : { urlFilter: jsonOf(values, 'url-filter') }),
          headers: listOf(values.header).map(parseHeader),
        }
        const made = await audited(
          session,
          subscriber.id,
          now,
          (tx) => createSubscription(tx, dependencies, settings, now),
          ({ subscriptionId }) => ({
            ...about('webhook', 'created', subscriptionId),
            // The rest of an address can be a secret.
            details: { event: settings.event, host: new URL(settings.url).host },
          }),
        )
        return { subscription_id: made.subscriptionId, signing_secret: made.signingSecret }
      } finally {
        await outbound.close()
      }
    },
  },
  'webhook list': {
    summary: "List a tenant's webhook subscriptions and how they do",
    options: { tenant },
    run: async (session, values, now) => {
      const subscriber = await tenantOf(session, values)
      const [subscriptions, health] = [await listSubscriptions(subscriber), await subscriptionHealth(subscriber, now)]
      return { subscriptions, health }
    },
  },
  'webhook events': {
    summary: 'List the event types that the service knows, with a sample delivery each',
    options: { tenant },
    run: async (session, values, now) => ({ events: eventCatalogue((await tenantOf(session, values)).id, now) }),
  },
  'webhook pause': {
    summary: 'Stop deliveries; events that come meanwhile are not delivered later',
    options: { tenant, webhook },
    run: async (session, values, now) => {
      await change(session, values, now, 'paused', (tx, id) => pauseSubscription(tx, id, now))
      return { subscription_id: String(values.webhook), status: 'paused' }
    },
  },
  'webhook resume': {
    summary: 'Start deliveries again',
    options: { tenant, webhook },
    run: async (session, values, now) => {
      await change(session, values, now, 'resumed', (tx, id) => resumeSubscription(tx, id, now))
      return { subscription_id: String(values.webhook), status: 'active' }
    },
  },
  'webhook delete': {
    summary: 'Delete a subscription with its deliveries',
    options: { tenant, webhook },
    run: async (session, values, now) => {
      await change(session, values, now, 'deleted', deleteSubscription)
      return { subscription_id: String(values.webhook), deleted: true }
    },
  },
  'webhook rotate': {
    summary: 'Give a subscription a new signing secret; the old one signs too until the overlap ends (a day)',
    options: { tenant, webhook, 'overlap-seconds': optional('NUMBER'), 'switch-at': optional('TIMESTAMP') },
    run: async (session, values, now) => {
      const switchAt = momentOf(values, 'switch-at')
      const rotation = {
        overlapSeconds: numberOf(values, 'overlap-seconds', 86_400),
        ...(switchAt ? { switchAt } : {}),
      }
      const secrets = await openSecretBox(session.config)
      const rotated = await change(session, values, now, 'secret_rotated', (tx, id) =>
        rotateSecret(tx, secrets, id, rotation, now),
      )
      return {
        subscription_id: String(values.webhook),
        signing_secret: rotated.signingSecret,
        previous_secret_until: rotated.previousUntil.toISOString(),
        switch_at: rotated.switchAt.toISOString(),
      }
    },
  },
  'webhook test': {
    summary: 'Send a sample of the subscribed event',
    options: { tenant, webhook },
    run: async (session, values, now) => {
      const deliveryId = await change(session, values, now, 'tested', (tx, id) => sendTest(tx, id, now))
      return { delivery_id: deliveryId }
    },
  },
  'webhook deliveries': {
    summary: 'List recent deliveries with every attempt, newest first',
    options: {
      tenant,
      webhook,
      status: optional(STATUSES.join('|')),
      limit: optional('1-100'),
      before: optional('DELIVERY_ID'),
    },
    run: async (session, values) => {
      const status = statusOf(values)
      const deliveries = await listDeliveries(await tenantOf(session, values), String(values.webhook), {
        limit: numberOf(values, 'limit', 20),
        ...(status ? { status } : {}),
        ...(values.before === undefined ? {} : { before: String(values.before) }),
      })
      return { deliveries }
    },
  },
  'webhook resend': {
    summary: 'Send one delivery again, or all failed ones of a subscription whose events came in a range of time',
    options: {
      tenant,
      delivery: optional('DELIVERY_ID'),
      webhook: optional('SUBSCRIPTION_ID'),
      from: optional('TIMESTAMP'),
      to: optional('TIMESTAMP'),
    },
    run: async (session, values, now) => {
      if (values.delivery !== undefined && values.webhook === undefined) {
        await resendOne(session, values, now)
        return { resent: 1 }
      }
      const [from, to] = [momentOf(values, 'from'), momentOf(values, 'to', 'end')]
      if (values.delivery !== undefined || values.webhook === undefined || !from) {
        throw new ServiceError(400, 'invalid_option', 'Give --delivery, or --webhook with --from (and --to).')
      }
      const subscriptionId = String(values.webhook)
      const resent = await audited(
        session,
        await existingTenant(session.stores, values),
        now,
        (tx) => resendFailed(tx, subscriptionId, { from, to: to ?? now }, now),
        (count) => ({ ...about('webhook', 'failures_resent', subscriptionId), details: { resent: count } }),
      )
      return { resent }
    },
  },
}

async function resendOne(session: Session, values: Values, now: Date): Promise<void> {
  const subscriber = await tenantOf(session, values)
  const { delivery_id, subscription_id } = await readDelivery(subscriber, String(values.delivery))
  await audited(
    session,
    subscriber.id,
    now,
    (tx) => resendDelivery(tx, delivery_id, now),
    () => ({ ...about('webhook', 'delivery_resent', subscription_id), details: { delivery_id } }),
  )
}

/** Changes the named subscription, and writes that into the audit log. */
async function change<Result>(
  session: Session,
  values: Values,
  now: Date,
  verb: string,
  work: (tx: Tenant, subscriptionId: string) => Promise<Result>,
): Promise<Result> {
  const { id } = await tenantOf(session, values)
  const subscriptionId = String(values.webhook)
  const entry = about('webhook', verb, subscriptionId)
  return audited(
    session,
    id,
    now,
    (tx) => work(tx, subscriptionId),
    () => entry,
  )
}

async function tenantOf(session: Session, values: Values): Promise<Tenant> {
  return session.tenant(await existingTenant(session.stores, values))
}

function listOf(value: Values[string]): string[] {
  return Array.isArray(value) ? value.map(String) : []
}

function momentOf(values: Values, name: string, dayMeans: 'start' | 'end' = 'start'): Date | undefined {
  if (values[name] === undefined) return undefined
  const moment = parseTimestamp(String(values[name]), dayMeans)
  if (!moment) throw new ServiceError(400, 'invalid_option', `--${name} must be an ISO 8601 timestamp or a date.`)
  return moment
}

function statusOf(values: Values): Delivery['status'] | undefined {
  if (values.status === undefined) return undefined
  const status = STATUSES.find((each) => each === values.status)
  if (!status) throw new ServiceError(400, 'invalid_option', `--status must be one of ${STATUSES.join(', ')}.`)
  return status
}
