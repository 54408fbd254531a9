import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { requireRole, shellRoute } from '../session/root-routes.ts'
import { oneOf, pageNumber, searchParams, text } from '../session/search-params.ts'

/** The event of a new webhook, and the segment that it is limited to. */
const newSearch = searchParams({ event: text, segment: text })

const webhookSearch = searchParams({ page: pageNumber, status: oneOf('pending', 'succeeded', 'failed') })

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks',
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(queryOf('listWebhooks', { limit: 200 }))
    void context.queryClient.prefetchQuery(queryOf('listWebhookHealth', { limit: 200 }))
  },
  component: lazyPage(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
})

const create = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/new',
  validateSearch: newSearch,
  beforeLoad: ({ context }) => requireRole(context, 'admin', '/webhooks'),
  loader: ({ context }) => void context.queryClient.prefetchQuery(queryOf('listWebhookEventTypes')),
  component: lazyPage(() => import('./new-webhook-page.tsx'), 'NewWebhookPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/$webhookId',
  validateSearch: webhookSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { webhookId: subscription_id }, deps: { page = 1, status } }) => {
    void queryClient.prefetchQuery(queryOf('getWebhook', { subscription_id }))
    void queryClient.prefetchQuery(queryOf('listWebhookDeliveries', { subscription_id, page, limit: 20, status }))
  },
  component: lazyPage(() => import('./webhook-page.tsx'), 'WebhookPage'),
})

const delivery = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/$webhookId/deliveries/$deliveryId',
  loader: ({ context, params: { webhookId: subscription_id, deliveryId: delivery_id } }) =>
    void context.queryClient.prefetchQuery(queryOf('getWebhookDelivery', { subscription_id, delivery_id })),
  component: lazyPage(() => import('./delivery-page.tsx'), 'DeliveryPage'),
})

export const webhookRoutes = [list, create, one, delivery] as const
