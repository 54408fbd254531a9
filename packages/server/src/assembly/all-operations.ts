import type { Operation } from '../operations/declare.ts'
import { DELIVERY_OPERATIONS } from '../webhooks/delivery-operations.ts'
import { WEBHOOK_OPERATIONS } from '../webhooks/operations.ts'

/** Every operation: the routes under /v1, the commands of `cdsctl` and the tests that walk both are derived from this list. */
export const OPERATIONS: readonly Operation[] = [...WEBHOOK_OPERATIONS, ...DELIVERY_OPERATIONS]
