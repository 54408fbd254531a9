import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import type { Webhook, WebhookDelivery, WebhookEventType, WebhookHealth } from '../../../server/src/webhooks/schema.ts'
import { get, send } from './client.ts'

export type { Webhook, WebhookDelivery, WebhookHealth }
export type UrlFilter = NonNullable<Webhook['url_filter']>

export interface WebhookSettings {
  event: string
  url: string
  url_filter: UrlFilter | null
  headers: { name: string; value: string }[]
  format: Webhook['format']
  /** null: the default text. */
  template: string | null
}

/** A tenant's limit. */
const ALL = { limit: 200 }

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks', 'list'],
  queryFn: ({ signal }) => get<{ webhooks: Webhook[] }>('/v1/webhooks', ALL, signal),
  select: ({ webhooks }) => webhooks,
})

export const webhookHealthQuery = queryOptions({
  queryKey: ['webhooks', 'health'],
  queryFn: ({ signal }) => get<{ health: WebhookHealth[] }>('/v1/webhooks/health', ALL, signal),
  select: ({ health }) => new Map(health.map((each) => [each.subscription_id, each])),
})

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id],
    queryFn: ({ signal }) => get<{ webhook: Webhook }>(path(id), {}, signal),
    select: ({ webhook }) => webhook,
  })

/** Rows per page. */
export const DELIVERIES_LENGTH = 20

export const deliveriesQuery = (id: string, query: { page: number; limit: number; status: string | undefined }) =>
  queryOptions({
    queryKey: ['webhooks', 'deliveries', id, query],
    queryFn: ({ signal }) =>
      get<{ deliveries: WebhookDelivery[]; pagination: Type.Static<typeof Pagination> }>(
        `${path(id)}/deliveries`,
        query,
        signal,
      ),
    placeholderData: keepPreviousData,
  })

export const deliveryQuery = (id: string, deliveryId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'delivery', id, deliveryId],
    queryFn: ({ signal }) => get<{ delivery: WebhookDelivery }>(deliveryPath(id, deliveryId), {}, signal),
    select: ({ delivery }) => delivery,
  })

export const webhookEventTypesQuery = queryOptions({
  queryKey: ['webhooks', 'event-types'],
  queryFn: ({ signal }) => get<{ event_types: WebhookEventType[] }>('/v1/webhooks/event-types', {}, signal),
  select: ({ event_types }) => event_types,
  staleTime: 5 * 60_000,
})

/** The message for an event, as the service writes it. */
export const webhookPreviewQuery = (event: string, template: string | null) =>
  queryOptions({
    queryKey: ['webhooks', 'preview', event, template],
    queryFn: ({ signal }) =>
      get<{ template: string; text: string }>(
        '/v1/webhooks/preview',
        { event, ...(template === null ? {} : { template }) },
        signal,
      ),
    enabled: event !== '',
    retry: false,
    placeholderData: keepPreviousData,
  })

export function createWebhook(settings: WebhookSettings) {
  return send<{ webhook: Webhook; signing_secret: string }>('POST', '/v1/webhooks', settings)
}

export function changeWebhook(id: string, changes: Partial<Omit<WebhookSettings, 'event' | 'format'>>) {
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

export function rotateWebhookSecret(id: string, rotation: { overlap_seconds: number; switch_at?: string }) {
  return send<{ signing_secret: string; previous_secret_until: string; switch_at: string }>(
    'POST',
    `${path(id)}/rotate`,
    rotation,
  )
}

export function resendDelivery({ subscription_id: id, delivery_id: deliveryId }: WebhookDelivery) {
  return send('POST', `${deliveryPath(id, deliveryId)}/resend`)
}

/** Sends all failed deliveries in a range of days again. */
export function resendFailed(id: string, range: { from: string; to: string }) {
  return send<{ resent: number }>('POST', `${path(id)}/deliveries/resend`, range)
}

export function refreshWebhooks(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['webhooks'] })
}

function path(id: string): string {
  return `/v1/webhooks/${encodeURIComponent(id)}`
}

function deliveryPath(id: string, deliveryId: string): string {
  return `${path(id)}/deliveries/${encodeURIComponent(deliveryId)}`
}
