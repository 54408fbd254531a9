import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { Webhook, WebhookDelivery, WebhookHealth } from '../../../server/src/dashboard/webhook-schema.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, send } from './client.ts'

export type { Webhook, WebhookDelivery, WebhookHealth }
export type UrlFilter = NonNullable<Webhook['url_filter']>

export interface EventType {
  event: string
  summary: string
  is_system: boolean
  sample: unknown
}

export interface WebhookSettings {
  event: string
  url: string
  url_filter: UrlFilter | null
  headers: { name: string; value: string }[]
}

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks', 'list'],
  queryFn: ({ signal }) => get<{ webhooks: Webhook[] }>('/api/webhooks', {}, signal),
  select: ({ webhooks }) => webhooks,
})

export const webhookHealthQuery = queryOptions({
  queryKey: ['webhooks', 'health'],
  queryFn: ({ signal }) => get<{ health: WebhookHealth[] }>('/api/webhooks/health', {}, signal),
  select: ({ health }) => new Map(health.map((each) => [each.subscription_id, each])),
})

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id],
    queryFn: ({ signal }) => get<{ webhook: Webhook }>(`/api/webhooks/${encodeURIComponent(id)}`, {}, signal),
    select: ({ webhook }) => webhook,
  })

export const deliveriesQuery = (id: string, query: { page: number; limit: number; status: string | undefined }) =>
  queryOptions({
    queryKey: ['webhooks', 'deliveries', id, query],
    queryFn: ({ signal }) =>
      get<{ deliveries: WebhookDelivery[]; pagination: Type.Static<typeof Pagination> }>(
        `/api/webhooks/${encodeURIComponent(id)}/deliveries`,
        query,
        signal,
      ),
    placeholderData: keepPreviousData,
  })

export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'delivery', id],
    queryFn: ({ signal }) =>
      get<{ delivery: WebhookDelivery }>(`/api/webhooks/deliveries/${encodeURIComponent(id)}`, {}, signal),
    select: ({ delivery }) => delivery,
  })

export const webhookEventTypesQuery = queryOptions({
  queryKey: ['webhooks', 'event-types'],
  queryFn: ({ signal }) => get<{ event_types: EventType[] }>('/api/webhooks/event-types', {}, signal),
  select: ({ event_types }) => event_types,
  staleTime: 5 * 60_000,
})

export function createWebhook(settings: WebhookSettings) {
  return send<{ webhook: Webhook; signing_secret: string }>('POST', '/api/webhooks', settings)
}

export function changeWebhook(id: string, changes: Partial<Omit<WebhookSettings, 'event'>>) {
  return send<{ webhook: Webhook }>('PATCH', path(id), changes)
}

export function deleteWebhook(id: string) {
  return send('DELETE', path(id))
}

export function pauseWebhook(id: string) {
  return send('POST', `${path(id)}/pause`)
}

export function resumeWebhook(id: string) {
  return send('POST', `${path(id)}/resume`)
}

export function sendTestDelivery(id: string) {
  return send<{ delivery_id: string }>('POST', `${path(id)}/test`)
}

export function rotateWebhookSecret(id: string, rotation: { overlap_hours: number; switch_at?: string }) {
  return send<{ signing_secret: string; previous_secret_until: string; switch_at: string }>(
    'POST',
    `${path(id)}/rotate`,
    rotation,
  )
}

export function resendDelivery(deliveryId: string) {
  return send('POST', `/api/webhooks/deliveries/${encodeURIComponent(deliveryId)}/resend`)
}

/** Sends again all that failed in a range of days. */
export function resendFailed(id: string, range: { from: string; to: string }) {
  return send<{ resent: number }>('POST', `${path(id)}/resend`, range)
}

export function refreshWebhooks(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['webhooks'] })
}

function path(id: string): string {
  return `/api/webhooks/${encodeURIComponent(id)}`
}
