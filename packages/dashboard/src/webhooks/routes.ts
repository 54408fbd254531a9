import { createRoute } from '@tanstack/react-router'
import {
  DELIVERIES_LENGTH,
  deliveriesQuery,
  deliveryQuery,
  webhookEventTypesQuery,
  webhookHealthQuery,
  webhookQuery,
  webhooksQuery,
} from '../api/webhooks.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { requireRole, shellRoute } from '../session/root-routes.ts'
import { oneOf, pageNumber, searchParams, text } from '../session/search-params.ts'

/** The event of a new webhook. */
const newSearch = searchParams({ event: text })

const webhookSearch = searchParams({ page: pageNumber, status: oneOf('pending', 'succeeded', 'failed') })

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks',
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(webhooksQuery)
    void context.queryClient.prefetchQuery(webhookHealthQuery)
  },
  component: lazyPage(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
})

const create = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/new',
  validateSearch: newSearch,
  beforeLoad: ({ context }) => requireRole(context, 'admin', '/webhooks'),
  loader: ({ context }) => void context.queryClient.prefetchQuery(webhookEventTypesQuery),
  component: lazyPage(() => import('./new-webhook-page.tsx'), 'NewWebhookPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/$webhookId',
  validateSearch: webhookSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params: { webhookId }, deps: { page = 1, status } }) => {
    void context.queryClient.prefetchQuery(webhookQuery(webhookId))
    void context.queryClient.prefetchQuery(deliveriesQuery(webhookId, { page, limit: DELIVERIES_LENGTH, status }))
  },
  component: lazyPage(() => import('./webhook-page.tsx'), 'WebhookPage'),
})

const delivery = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/$webhookId/deliveries/$deliveryId',
  loader: ({ context, params: { webhookId, deliveryId } }) =>
    void context.queryClient.prefetchQuery(deliveryQuery(webhookId, deliveryId)),
  component: lazyPage(() => import('./delivery-page.tsx'), 'DeliveryPage'),
})

export const webhookRoutes = [list, create, one, delivery] as const
