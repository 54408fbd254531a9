import Type from 'typebox'
import { entryAbout } from '../operations/audit.ts'
import { idInPath, operationsWith } from '../operations/declare.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { notFound, validationError } from '../platform/errors.ts'
import { idInput } from '../platform/http/inputs.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { timestampBound } from '../platform/http/query-parameters.ts'
import { Changed, Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import type { Outbound } from '../platform/outbound/client.ts'
import { WITHHELD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { eventCatalogue } from './catalogue.ts'
import { parseHeader } from './custom-headers.ts'
import { subscriptionHealth } from './health.ts'
import { sendTest } from './resend.ts'
import { OVERLAP_SECONDS_MAX, rotateSecret } from './rotate-secret.ts'
import { Webhook, WebhookEventType, WebhookFormat, WebhookHealth } from './schema.ts'
import { EventName, PREVIEW_OPERATION, Template } from './slack/operation.ts'
import {
  checkSettings,
  createSubscription,
  deleteSubscription,
  listSubscriptions,
  pauseSubscription,
  readSubscription,
  resumeSubscription,
  SUBSCRIPTIONS_MAX,
  updateSubscription,
} from './subscriptions.ts'
import { UrlFilter } from './url-filter.ts'

/** What the operations on webhooks need. */
export interface WebhookServices {
  secrets: SecretBox
  outbound: Pick<Outbound, 'check'>
  findSegment: (tenant: Tenant, segmentId: string) => Promise<object | undefined>
}

const operation = operationsWith<WebhookServices>()
const tag = 'Webhooks'
export const SubscriptionPath = { subscription_id: idInPath('webhook subscription') }
const SigningSecret = Type.String({ description: 'Returned this once.', ...WITHHELD })
const Page = pageParameters(50, SUBSCRIPTIONS_MAX)

const Url = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description: 'An https:// URL on the public internet.',
  examples: ['https://hooks.example.com/events'],
})
const Headers = Type.Array(
  Type.Object({ name: Type.String(), value: Type.String() }, { title: 'WebhookHeader', additionalProperties: false }),
  {
    maxItems: 100,
    description: 'Sent with each delivery. At most 20.',
    examples: [[{ name: 'X-Team', value: 'sales' }]],
  },
)
/**
 * What deliveries carry: events with their contacts. Contact events and the templates of messages show any property of
 * a contact; of a company only its name and domain, which `events:read` shows too.
 */
export const DELIVERED = [{ scopes: ['contacts:read', 'events:read'] as const }]
const options = { headers: { name: 'header', hint: "'Name: value'", read: parseHeader } }

// Their parser reports every invalid place in them.
const Where = Type.Array(Type.Unknown(), {
  description: 'Conditions on the event, as those in the where of an event condition; all must be true for a delivery.',
  examples: [[{ property: 'data.plan', operator: 'equals', value: 'pro' }]],
})

/** An audit entry about a subscription. It must not contain a secret. */
export const entryOf = entryAbout('webhook')

export const WEBHOOK_OPERATIONS = [
  operation({
    name: 'createWebhook',
    tag,
    http: 'POST /v1/webhooks',
    command: 'webhook create',
    scope: 'webhooks:write',
    also: DELIVERED,
    summary: 'Subscribe a URL to an event type; the signing secret is shown this once',
    input: {
      event: EventName,
      url: Url,
      url_filter: Type.Optional(UrlFilter),
      where: Type.Optional(Where),
      segment_id: Type.Optional(
        idInput({
          description:
            'With `segment_entered` or `segment_exited`: deliver only those of this segment. Default: of every segment.',
        }),
      ),
      headers: Type.Optional(Headers),
      format: Type.Optional(WebhookFormat),
      template: Type.Optional(Nullable(Template)),
    },
    output: { subscription_id: Id, webhook: Webhook, signing_secret: SigningSecret },
    status: 201,
    errors: ['400 url_not_allowed', '409 too_many_webhook_subscriptions'],
    options,
    async check(services, input) {
      await checkSettings(services, input)
      await checkSegment(services, input)
    },
    async run({ tenant, secrets, now }, input) {
      const { subscriptionId, signingSecret } = await createSubscription(tenant, secrets, input, now)
      const webhook = await readSubscription(tenant, subscriptionId)
      return { subscription_id: subscriptionId, webhook, signing_secret: signingSecret }
    },
    // The rest of a URL can be a secret.
    audit: ({ webhook: { subscription_id, event, url, format } }) =>
      entryOf('webhook.created', subscription_id, { event, host: new URL(url).host, format }),
  }),
  operation({
    name: 'listWebhooks',
    tag,
    http: 'GET /v1/webhooks',
    command: 'webhook list',
    scope: 'webhooks:read',
    summary: 'List the webhook subscriptions, newest first',
    input: Page,
    output: { webhooks: Type.Array(Webhook), pagination: Pagination },
    async run({ tenant }, { page, limit }) {
      const { webhooks, total } = await listSubscriptions(tenant, { page, limit })
      return { webhooks, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'listWebhookEventTypes',
    tag,
    http: 'GET /v1/webhooks/event-types',
    command: 'webhook-event-type list',
    scope: 'webhooks:read',
    summary: 'List the known event types, each with a sample delivery',
    description: 'You can also subscribe to any other name that you record.',
    input: {},
    output: { event_types: Type.Array(WebhookEventType) },
    run: async ({ tenant, now }) => ({ event_types: eventCatalogue(tenant.id, now) }),
  }),
  PREVIEW_OPERATION,
  operation({
    name: 'listWebhookHealth',
    tag,
    http: 'GET /v1/webhooks/health',
    command: 'webhook-health list',
    scope: 'webhooks:read',
    summary: 'List the health of the webhook subscriptions, newest first',
    input: Page,
    output: { health: Type.Array(WebhookHealth), pagination: Pagination },
    async run({ tenant, now }, { page, limit }) {
      const { webhooks, total } = await listSubscriptions(tenant, { page, limit })
      const ids = webhooks.map(({ subscription_id }) => subscription_id)
      return { health: await subscriptionHealth(tenant, ids, now), pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getWebhook',
    tag,
    http: 'GET /v1/webhooks/:subscription_id',
    command: 'webhook get',
    scope: 'webhooks:read',
    summary: 'Get a webhook subscription',
    input: SubscriptionPath,
    output: { webhook: Webhook },
    run: async ({ tenant }, { subscription_id }) => ({ webhook: await readSubscription(tenant, subscription_id) }),
  }),
  operation({
    name: 'getWebhookHealth',
    tag,
    http: 'GET /v1/webhooks/:subscription_id/health',
    command: 'webhook-health get',
    scope: 'webhooks:read',
    summary: 'Get the health of a webhook subscription',
    input: SubscriptionPath,
    output: { health: WebhookHealth },
    async run({ tenant, now }, { subscription_id: id }) {
      const { subscription_id } = await readSubscription(tenant, id)
      const [health] = await subscriptionHealth(tenant, [subscription_id], now)
      if (!health) throw notFound('webhook subscription')
      return { health }
    },
  }),
  operation({
    name: 'updateWebhook',
    tag,
    http: 'PATCH /v1/webhooks/:subscription_id',
    command: 'webhook update',
    scope: 'webhooks:write',
    also: DELIVERED,
    summary: 'Change the URL, the URL filter, the headers or the text of a webhook subscription',
    description:
      'Pending deliveries are sent to the new URL. `headers` replaces all earlier ones. The event and the format cannot change.',
    input: {
      ...SubscriptionPath,
      url: Type.Optional(Url),
      url_filter: Type.Optional(Nullable(UrlFilter)),
      where: Type.Optional(Nullable(Where)),
      headers: Type.Optional(Headers),
      template: Type.Optional(Nullable(Template)),
    },
    output: { webhook: Webhook, changed: Changed },
    errors: ['400 url_not_allowed', '503 secret_key_missing'],
    options,
    check: checkSettings,
    async run({ tenant, secrets, now }, { subscription_id, ...changes }) {
      const changed = await updateSubscription(tenant, secrets, subscription_id, changes, now)
      return { webhook: await readSubscription(tenant, subscription_id), changed }
    },
    audit: ({ webhook, changed }) =>
      changed.length === 0 ? null : entryOf('webhook.updated', webhook.subscription_id, { changed }),
  }),
  operation({
    name: 'deleteWebhook',
    tag,
    http: 'DELETE /v1/webhooks/:subscription_id',
    command: 'webhook delete',
    scope: 'webhooks:write',
    summary: 'Delete a webhook subscription with its deliveries',
    input: SubscriptionPath,
    output: { deleted: Type.Literal(true), subscription_id: Id },
    async run({ tenant }, input) {
      const { subscription_id } = await readSubscription(tenant, input.subscription_id)
      await deleteSubscription(tenant, subscription_id)
      return { deleted: true as const, subscription_id }
    },
    audit: ({ subscription_id }) => entryOf('webhook.deleted', subscription_id),
  }),
  operation({
    name: 'pauseWebhook',
    tag,
    http: 'POST /v1/webhooks/:subscription_id/pause',
    command: 'webhook pause',
    scope: 'webhooks:write',
    summary: 'Stop deliveries; events recorded while it is paused are not delivered later',
    input: SubscriptionPath,
    output: { webhook: Webhook, changed: Changed },
    async run({ tenant, now }, { subscription_id }) {
      const changed = await pauseSubscription(tenant, subscription_id, now)
      return { webhook: await readSubscription(tenant, subscription_id), changed }
    },
    audit: ({ webhook, changed }) => (changed.length === 0 ? null : entryOf('webhook.paused', webhook.subscription_id)),
  }),
  operation({
    name: 'resumeWebhook',
    tag,
    http: 'POST /v1/webhooks/:subscription_id/resume',
    command: 'webhook resume',
    scope: 'webhooks:write',
    also: DELIVERED,
    summary: 'Resume deliveries',
    input: SubscriptionPath,
    output: { webhook: Webhook, changed: Changed },
    errors: ['409 too_many_webhook_subscriptions'],
    async run({ tenant, now }, { subscription_id }) {
      const changed = await resumeSubscription(tenant, subscription_id, now)
      return { webhook: await readSubscription(tenant, subscription_id), changed }
    },
    audit: ({ webhook, changed }) =>
      changed.length === 0 ? null : entryOf('webhook.resumed', webhook.subscription_id),
  }),
  operation({
    name: 'rotateWebhookSecret',
    tag,
    http: 'POST /v1/webhooks/:subscription_id/rotate',
    command: 'webhook rotate',
    scope: 'webhooks:write',
    also: DELIVERED,
    summary: 'Rotate the signing secret of a webhook subscription; the old one also signs until the overlap ends',
    input: {
      ...SubscriptionPath,
      overlap_seconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: OVERLAP_SECONDS_MAX,
          description: 'How long both secrets sign. Default: a day; 0 revokes the old one at once.',
        }),
      ),
      switch_at: timestampBound(
        'lower',
        'When X-Service-Signature switches to the new secret. Default: the end of the overlap.',
      ),
    },
    output: {
      subscription_id: Id,
      signing_secret: SigningSecret,
      previous_secret_until: Timestamp,
      switch_at: Timestamp,
    },
    example: { overlap_seconds: 3_600 },
    errors: ['409 rotation_under_way'],
    async run({ tenant, secrets, now }, { subscription_id: id, overlap_seconds, switch_at }) {
      const { subscription_id } = await readSubscription(tenant, id)
      const rotation = { overlapSeconds: overlap_seconds, switchAt: switch_at }
      const rotated = await rotateSecret(tenant, secrets, subscription_id, rotation, now)
      return {
        subscription_id,
        signing_secret: rotated.signingSecret,
        previous_secret_until: rotated.previousUntil.toISOString(),
        switch_at: rotated.switchAt.toISOString(),
      }
    },
    audit: ({ subscription_id }) => entryOf('webhook.secret_rotated', subscription_id),
  }),
  operation({
    name: 'testWebhook',
    tag,
    http: 'POST /v1/webhooks/:subscription_id/test',
    command: 'webhook test',
    scope: 'webhooks:write',
    also: DELIVERED,
    summary: 'Send a sample of the subscribed event',
    input: SubscriptionPath,
    output: { subscription_id: Id, delivery_id: Id },
    errors: ['409 webhook_paused'],
    async run({ tenant, now }, input) {
      const { subscription_id } = await readSubscription(tenant, input.subscription_id)
      return { subscription_id, delivery_id: await sendTest(tenant, subscription_id, now) }
    },
    audit: ({ subscription_id, delivery_id }) => entryOf('webhook.tested', subscription_id, { delivery_id }),
  }),
]

const OF_SEGMENTS = ['segment_entered', 'segment_exited']

/** @throws ServiceError 400 if the event is not about segments, or there is no such segment */
async function checkSegment(
  { tenant, findSegment }: WebhookServices & { tenant: Tenant },
  { event, segment_id }: { event: string; segment_id?: string | undefined },
): Promise<void> {
  if (segment_id === undefined) return
  const refused = (message: string) => validationError([{ path: 'segment_id', message }])
  if (!OF_SEGMENTS.includes(event)) throw refused(`is only for ${OF_SEGMENTS.join(' and ')}. Leave it out`)
  if (!(await findSegment(tenant, segment_id))) throw refused('is not the id of a segment')
}
