import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  CreateWebhookInput,
  ListWebhookDeliveriesInput,
  ResendWebhookDeliveriesInput,
  RotateWebhookSecretInput,
  UpdateWebhookInput,
  UrlFilter,
  Webhook,
  WebhookDelivery,
  WebhookHealth,
} from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { UrlFilter, Webhook, WebhookDelivery, WebhookHealth }

type Of<Input> = Omit<Input, 'subscription_id'>

/** A tenant's limit. */
const ALL = { limit: 200 }

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks', 'list'],
  queryFn: ({ signal }) => call('listWebhooks', ALL, signal),
  select: ({ webhooks }) => webhooks,
})

export const webhookHealthQuery = queryOptions({
  queryKey: ['webhooks', 'health'],
  queryFn: ({ signal }) => call('listWebhookHealth', ALL, signal),
  select: ({ health }) => new Map(health.map((each) => [each.subscription_id, each])),
})

export const webhookQuery = (subscription_id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', subscription_id],
    queryFn: ({ signal }) => call('getWebhook', { subscription_id }, signal),
    select: ({ webhook }) => webhook,
  })

/** Rows per page. */
export const DELIVERIES_LENGTH = 20

export const deliveriesQuery = (subscription_id: string, query: Of<ListWebhookDeliveriesInput>) =>
  queryOptions({
    queryKey: ['webhooks', 'deliveries', subscription_id, query],
    queryFn: ({ signal }) => call('listWebhookDeliveries', { subscription_id, ...query }, signal),
    placeholderData: keepPreviousData,
  })

export const deliveryQuery = (subscription_id: string, delivery_id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'delivery', subscription_id, delivery_id],
    queryFn: ({ signal }) => call('getWebhookDelivery', { subscription_id, delivery_id }, signal),
    select: ({ delivery }) => delivery,
  })

export const webhookEventTypesQuery = queryOptions({
  queryKey: ['webhooks', 'event-types'],
  queryFn: ({ signal }) => call('listWebhookEventTypes', {}, signal),
  select: ({ event_types }) => event_types,
  staleTime: 5 * 60_000,
})

/** The message for an event, as the service writes it. */
export const webhookPreviewQuery = (event: string, template: string | null) =>
  queryOptions({
    queryKey: ['webhooks', 'preview', event, template],
    queryFn: ({ signal }) =>
      call('previewWebhookMessage', { event, ...(template === null ? {} : { template }) }, signal),
    enabled: event !== '',
    retry: false,
    placeholderData: keepPreviousData,
  })

export function createWebhook(settings: CreateWebhookInput) {
  return call('createWebhook', settings)
}

export function updateWebhook(subscription_id: string, changes: Of<UpdateWebhookInput>) {
  return call('updateWebhook', { subscription_id, ...changes })
}

export function deleteWebhook(subscription_id: string) {
  return call('deleteWebhook', { subscription_id })
}

export function pauseWebhook(subscription_id: string) {
  return call('pauseWebhook', { subscription_id })
}

export function resumeWebhook(subscription_id: string) {
  return call('resumeWebhook', { subscription_id })
}

export function testWebhook(subscription_id: string) {
  return call('testWebhook', { subscription_id })
}

export function rotateWebhookSecret(subscription_id: string, rotation: Of<RotateWebhookSecretInput>) {
  return call('rotateWebhookSecret', { subscription_id, ...rotation })
}

export function resendWebhookDelivery({ subscription_id, delivery_id }: WebhookDelivery) {
  const http = 'resendWebhookDelivery'
  return call(http, { subscription_id, delivery_id })
}

/** Which deliveries of a range are sent again. */
export const RESENT = ['failed', 'waiting', 'all'] as const
export type Resent = (typeof RESENT)[number]

function resendPart(subscription_id: string, sent: Of<ResendWebhookDeliveriesInput>) {
  return call('resendWebhookDeliveries', { subscription_id, ...sent })
}

/** Sends deliveries in a range of days again, part by part. @returns how many. */
export async function resendWebhookDeliveries(
  subscription_id: string,
  range: { from: string; to: string; only: Resent },
): Promise<number> {
  let sum = 0
  let position: { after?: string } | null = {}
  while (position !== null) {
    const part = await resendPart(subscription_id, { ...range, ...position })
    sum += part.resent
    position = part.next === null ? null : { after: part.next }
  }
  return sum
}

export function refreshWebhooks(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['webhooks'] })
}
