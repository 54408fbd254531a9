import Type from 'typebox'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { oneOf } from '../platform/http/query-parameters.ts'
import { success } from '../platform/http/responses.ts'
import { eventCatalogue } from '../webhooks/catalogue.ts'
import { pageOfDeliveries, readDelivery } from '../webhooks/deliveries.ts'
import { subscriptionHealth } from '../webhooks/health.ts'
import { resendDelivery, resendFailed } from '../webhooks/resend.ts'
import { readSubscription } from '../webhooks/subscriptions.ts'
import { ADMIN, VIEWER } from './access.ts'
import { audited } from './audited.ts'
import { momentOf, type WebhookDependencies } from './webhook-routes.ts'
import { DeliveryStatus, ResendBody, WebhookDelivery, WebhookHealth } from './webhook-schema.ts'

const Path = Type.Object({ subscription_id: Type.String() })
const DeliveryPath = Type.Object({ delivery_id: Type.String() })

const NEVER_SENT = {
  pending: 0,
  succeeded: 0,
  failed: 0,
  latest: 0,
  latest_failed: 0,
  is_failing: false,
  last_success_at: null,
  last_failure_at: null,
}

/** What was sent to webhooks, what came back, and sending it again; what can be subscribed to. */
export function deliveryRoutes(app: App, { clock }: Pick<WebhookDependencies, 'clock'>): void {
  app.get(
    '/api/webhooks/event-types',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        response: {
          200: success({
            event_types: Type.Array(
              Type.Object({
                event: Type.String(),
                summary: Type.String(),
                is_system: Type.Boolean(),
                sample: Type.Unknown(),
              }),
            ),
          }),
        },
      },
    },
    async ({ tenant }) => ({ status: 'success' as const, event_types: eventCatalogue(tenant.id, clock()) }),
  )

  app.get(
    '/api/webhooks/health',
    {
      config: { access: VIEWER },
      schema: { hide: true, response: { 200: success({ health: Type.Array(WebhookHealth) }) } },
    },
    async ({ tenant }) => ({ status: 'success' as const, health: await subscriptionHealth(tenant, clock()) }),
  )

  app.get(
    '/api/webhooks/:subscription_id/health',
    {
      config: { access: VIEWER },
      schema: { hide: true, params: Path, response: { 200: success({ health: WebhookHealth }) } },
    },
    async ({ tenant, params }) => {
      const { subscription_id } = await readSubscription(tenant, params.subscription_id)
      const health = await subscriptionHealth(tenant, clock(), subscription_id)
      return { status: 'success' as const, health: health[0] ?? { subscription_id, ...NEVER_SENT } }
    },
  )

  app.get(
    '/api/webhooks/:subscription_id/deliveries',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        params: Path,
        querystring: Type.Object({
          ...pageParameters(20, 100),
          status: oneOf(DeliveryStatus, 'Only these.'),
        }),
        response: { 200: success({ deliveries: Type.Array(WebhookDelivery), pagination: Pagination }) },
      },
    },
    async ({ tenant, params, query: { page = 1, limit = 20, status } }) => {
      const found = await pageOfDeliveries(tenant, params.subscription_id, status, { page, limit })
      const pagination = paginationOf({ page, limit }, found.total)
      return { status: 'success' as const, deliveries: found.deliveries, pagination }
    },
  )

  app.get(
    '/api/webhooks/deliveries/:delivery_id',
    {
      config: { access: VIEWER },
      schema: { hide: true, params: DeliveryPath, response: { 200: success({ delivery: WebhookDelivery }) } },
    },
    async ({ tenant, params }) => ({
      status: 'success' as const,
      delivery: await readDelivery(tenant, params.delivery_id),
    }),
  )

  app.post(
    '/api/webhooks/deliveries/:delivery_id/resend',
    {
      config: { access: ADMIN },
      schema: { hide: true, params: DeliveryPath, response: { 202: success({ delivery: WebhookDelivery }) } },
    },
    async (request, reply) => {
      const now = clock()
      const { delivery_id, subscription_id } = await readDelivery(request.tenant, request.params.delivery_id)
      await audited(
        request,
        now,
        (tx) => resendDelivery(tx, delivery_id, now),
        () => ({ ...entryOf('webhook.delivery_resent', subscription_id), details: { delivery_id } }),
      )
      const delivery = await readDelivery(request.tenant, delivery_id)
      return reply.code(202).send({ status: 'success', delivery })
    },
  )

  app.post(
    '/api/webhooks/:subscription_id/resend',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        params: Path,
        body: ResendBody,
        response: { 202: success({ resent: Type.Integer() }) },
      },
    },
    async (request, reply) => {
      const now = clock()
      const from = momentOf('from', request.body.from, 'start')
      const to = momentOf('to', request.body.to, 'end')
      const { subscription_id } = await readSubscription(request.tenant, request.params.subscription_id)
      const resent = await audited(
        request,
        now,
        (tx) => resendFailed(tx, subscription_id, { from, to }, now),
        (count) => ({ ...entryOf('webhook.failures_resent', subscription_id), details: { resent: count } }),
      )
      return reply.code(202).send({ status: 'success', resent })
    },
  )
}

function entryOf(action: string, subscriptionId: string) {
  return { action, subjectKind: 'webhook', subjectId: subscriptionId }
}
