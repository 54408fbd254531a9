import type { Operation } from '../operations/declare.ts'
import { SEGMENT_OPERATIONS } from '../segments/operations.ts'
import { DELIVERY_OPERATIONS } from '../webhooks/delivery-operations.ts'
import { WEBHOOK_OPERATIONS, type WebhookServices } from '../webhooks/operations.ts'

/** What operations need besides the context. */
export type Services = WebhookServices

/** Every operation: the routes under /v1, openapi.json and the tests that walk every route are derived from this list. */
export const OPERATIONS: readonly Operation<Services>[] = [
  ...SEGMENT_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...DELIVERY_OPERATIONS,
]
