import type { Tables } from '../platform/postgres/table-rules.ts'
import { eraseFromDeliveries } from './erase.ts'
import { headersPlace, secretPlace, urlPlace } from './sealed-columns.ts'

function placed(place: typeof secretPlace) {
  return ({ tenant_id = '', subscription_id = '' }: Record<string, string>) => place(tenant_id, subscription_id)
}

export const WEBHOOK_TABLES = {
  webhook_subscriptions: {
    key: ['subscription_id'],
    export: {},
    sealed: {
      secret_sealed: placed(secretPlace),
      previous_secret_sealed: placed(secretPlace),
      headers_sealed: placed(headersPlace),
      url_sealed: placed(urlPlace),
    },
  },
  webhook_deliveries: {
    key: ['delivery_id'],
    contact: 'followed',
    erase: eraseFromDeliveries,
    export: { isLarge: true },
  },
  webhook_attempts: { key: ['delivery_id', 'attempt'], erasedWith: 'webhook_deliveries', export: {} },
  webhook_queue: { key: ['subscription_id', 'due_at', 'batch_id'], export: 'none' },
} satisfies Tables
