import Type from 'typebox'
import { idInPath, operation } from '../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { requiredBound, timestampBound } from '../platform/http/query-parameters.ts'
import { Id } from '../platform/http/responses.ts'
import { listDeliveries, readDelivery } from './deliveries.ts'
import { DELIVERED, entryOf, SubscriptionPath } from './operations.ts'
import { resendDelivery, resendFailed } from './resend.ts'
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
    command: 'delivery resend-failed',
    scope: 'webhooks:write',
    also: DELIVERED,
    summary: 'Resend all failed deliveries whose events were recorded in a time range',
    input: {
      ...SubscriptionPath,
      from: requiredBound('lower', 'Events recorded at or after this time.'),
      to: timestampBound('upper', 'Events recorded at or before this time. Default: now.'),
    },
    output: { subscription_id: Id, resent: Type.Integer({ description: 'The number of deliveries sent again.' }) },
    errors: ['409 webhook_paused'],
    async run({ tenant, now }, { subscription_id: id, from, to = now }) {
      const { subscription_id } = await readSubscription(tenant, id)
      return { subscription_id, resent: await resendFailed(tenant, subscription_id, { from, to }, now) }
    },
    audit: ({ subscription_id, resent }) => entryOf('webhook.failures_resent', subscription_id, { resent }),
  }),
]
