import Type from 'typebox'
import { idInPath, operation } from '../operations/declare.ts'
import { validationError } from '../platform/errors.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { requiredBound, timestampBound } from '../platform/http/query-parameters.ts'
import { Id, Nullable } from '../platform/http/responses.ts'
import { WORD } from '../platform/personal.ts'
import { listDeliveries, readDelivery } from './deliveries.ts'
import { DELIVERED, entryOf, SubscriptionPath } from './operations.ts'
import { resendDelivery } from './resend.ts'
import { RESENT, RESENT_AT_ONCE, resendRange } from './resend-range.ts'
import { DeliveryStatus, WebhookDelivery } from './schema.ts'
import { readSubscription } from './subscriptions.ts'

const tag = 'Webhooks'
const DeliveryPath = { ...SubscriptionPath, delivery_id: idInPath('delivery') }

/** Deliveries, their attempts, and sending them again. */
export const DELIVERY_OPERATIONS = [
  operation({
    name: 'listWebhookDeliveries',
    tag,
    http: 'GET /v1/webhooks/:subscription_id/deliveries',
    command: 'delivery list',
    scope: 'webhooks:read',
    also: DELIVERED,
    summary: 'List the deliveries of a webhook subscription with every attempt, newest first',
    input: { ...SubscriptionPath, ...pageParameters(20, 100), status: Type.Optional(DeliveryStatus) },
    output: { deliveries: Type.Array(WebhookDelivery), pagination: Pagination },
    async run({ tenant }, { subscription_id, status, page, limit }) {
      const { deliveries, total } = await listDeliveries(tenant, subscription_id, status, { page, limit })
      return { deliveries, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getWebhookDelivery',
    tag,
    http: 'GET /v1/webhooks/:subscription_id/deliveries/:delivery_id',
    command: 'delivery get',
    scope: 'webhooks:read',
    also: DELIVERED,
    summary: 'Get a delivery with every attempt',
    input: DeliveryPath,
    output: { delivery: WebhookDelivery },
    run: async ({ tenant }, { subscription_id, delivery_id }) => ({
      delivery: await readDelivery(tenant, subscription_id, delivery_id),
    }),
  }),
  operation({
    name: 'resendWebhookDelivery',
    tag,
    http: 'POST /v1/webhooks/:subscription_id/deliveries/:delivery_id/resend',
    command: 'delivery resend',
    scope: 'webhooks:write',
    also: DELIVERED,
    summary: 'Send a delivery again',
    description: 'A finished delivery gets six new attempts. One that is being retried makes its next attempt now.',
    input: DeliveryPath,
    output: { delivery: WebhookDelivery },
    errors: ['409 delivery_moving', '409 webhook_paused'],
    async run({ tenant, now }, input) {
      const { subscription_id, delivery_id } = await readDelivery(tenant, input.subscription_id, input.delivery_id)
      await resendDelivery(tenant, delivery_id, now)
      return { delivery: await readDelivery(tenant, subscription_id, delivery_id) }
    },
    audit: ({ delivery: { subscription_id, delivery_id } }) =>
      entryOf('webhook.delivery_resent', subscription_id, { delivery_id }),
  }),
  operation({
    name: 'resendWebhookDeliveries',
    tag,
    http: 'POST /v1/webhooks/:subscription_id/deliveries/resend',
    command: 'delivery resend-range',
    scope: 'webhooks:write',
    also: DELIVERED,
    summary: 'Resend the deliveries whose events were recorded in a time range',
    description: `By default only those that failed for good, each with six new attempts. Those that wait for a retry make their next attempt now. What is due or being sent stays as it is. One request covers at most ${RESENT_AT_ONCE.toLocaleString('en')} deliveries: repeat it with \`next\` as \`after\` until that is null.`,
    input: {
      ...SubscriptionPath,
      from: requiredBound('lower', 'Events recorded at or after this time.'),
      to: timestampBound('upper', 'Events recorded at or before this time. Default: now.'),
      only: Type.Optional(
        Type.Enum([...RESENT], {
          default: 'failed',
          description:
            '`failed`: those that failed for good. `waiting`: those that wait for a retry. `all`: both, and those that succeeded.',
        }),
      ),
      after: Type.Optional(
        Type.String({ maxLength: 100, description: 'Where to continue: the `next` of the previous response.' }),
      ),
    },
    output: {
      subscription_id: Id,
      resent: Type.Integer({ description: 'The number of deliveries sent again, or earlier than planned.' }),
      next: Nullable(Type.String(WORD), 'Send it as `after` to continue; null if nothing is left.'),
    },
    example: { from: '2026-01-01T00:00:00Z', only: 'failed' },
    errors: ['409 webhook_paused'],
    async run({ tenant, now }, { subscription_id: id, from, to = now, only = 'failed', after = null }) {
      if (from > to) throw validationError([{ path: 'from', message: 'must not be after `to` (default: now)' }])
      const { subscription_id } = await readSubscription(tenant, id)
      return { subscription_id, ...(await resendRange(tenant, subscription_id, { from, to, only, after }, now)) }
    },
    audit: ({ subscription_id, resent }, { from, to = null, only = 'failed' }) =>
      entryOf('webhook.deliveries_resent', subscription_id, { only, from, to, resent }),
  }),
]
