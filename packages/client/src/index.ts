import { Operations } from './generated/operations.ts'

export type { ClientOptions, List, RequestOptions } from './call.ts'
export { CustomerDataError } from './errors.ts'
export type * from './generated/types.gen.ts'
export { type EventToTrack, type PersonToIdentify, Tracker, type TrackerOptions } from './tracker.ts'
export { verifyWebhook, WebhookError, type WebhookPayload } from './webhooks.ts'

/**
 * A client of the API, with a method for each operation. A list is a page if awaited, and all records in `for await`.
 * Failures are thrown as `CustomerDataError`.
 */
export class CustomerData extends Operations {}
