import Type from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { UrlFilter } from '../webhooks/url-filter.ts'

const Status = Type.Unsafe<'active' | 'paused'>({ type: 'string', enum: ['active', 'paused'] })

/** A subscription as it is shown: of its headers the names alone. */
export const Webhook = Type.Object({
  subscription_id: Id,
  event: Type.String(),
  url: Type.String(),
  url_filter: Nullable(UrlFilter),
  header_names: Type.Array(Type.String()),
  status: Status,
  previous_secret_until: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Webhook = Type.Static<typeof Webhook>

export const WebhookHealth = Type.Object({
  subscription_id: Id,
  pending: Type.Integer(),
  succeeded: Type.Integer(),
  failed: Type.Integer(),
  latest: Type.Integer(),
  latest_failed: Type.Integer(),
  is_failing: Type.Boolean(),
  last_success_at: Nullable(Timestamp),
  last_failure_at: Nullable(Timestamp),
})
export type WebhookHealth = Type.Static<typeof WebhookHealth>

export const DeliveryStatus = ['pending', 'succeeded', 'failed'] as const

export const WebhookAttempt = Type.Object({
  attempt: Type.Integer(),
  at: Timestamp,
  latency_ms: Type.Integer(),
  status_code: Nullable(Type.Integer()),
  body: Nullable(Type.String()),
  error: Nullable(Type.String()),
  address: Nullable(Type.String()),
})

export const WebhookDelivery = Type.Object({
  delivery_id: Id,
  subscription_id: Id,
  event_id: Id,
  event: Type.String(),
  is_test: Type.Boolean(),
  status: Type.Unsafe<(typeof DeliveryStatus)[number]>({ type: 'string', enum: DeliveryStatus }),
  attempt_count: Type.Integer(),
  next_attempt_at: Nullable(Timestamp),
  created_at: Timestamp,
  finished_at: Nullable(Timestamp),
  payload: Nullable(Type.String()),
  attempts: Type.Array(WebhookAttempt),
})
export type WebhookDelivery = Type.Static<typeof WebhookDelivery>

// What is wrong in these is said by the feature, which names every place.
const Headers = Type.Array(
  Type.Object({ name: Type.String(), value: Type.String() }, { additionalProperties: false }),
  { maxItems: 100 },
)
const Filter = Type.Unsafe<unknown>({})

export const CreateWebhookBody = Type.Object(
  {
    event: Type.String(),
    url: Type.String({ minLength: 1, maxLength: 2_000 }),
    url_filter: Type.Optional(Filter),
    headers: Type.Optional(Headers),
  },
  { additionalProperties: false },
)

export const ChangeWebhookBody = Type.Object(
  {
    url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000 })),
    url_filter: Type.Optional(Filter),
    headers: Type.Optional(Headers),
  },
  { additionalProperties: false },
)

export const RotateBody = Type.Object(
  {
    overlap_hours: Type.Optional(Type.Number({ minimum: 0, maximum: 720 })),
    switch_at: Type.Optional(Type.String({ maxLength: 40 })),
  },
  { additionalProperties: false },
)

export const ResendBody = Type.Object(
  { from: Type.String({ maxLength: 40 }), to: Type.String({ maxLength: 40 }) },
  { additionalProperties: false },
)
