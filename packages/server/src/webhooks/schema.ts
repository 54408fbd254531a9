import Type from 'typebox'
import { ConditionOnEventSchema } from '../conditions/schema.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { bag, LABEL, personal, TEXT, WORD } from '../platform/personal.ts'
import { UrlFilter } from './url-filter.ts'

const Where = Type.Array(ConditionOnEventSchema)

const FORMATS = ['json', 'slack'] as const
export type WebhookFormat = (typeof FORMATS)[number]
export const WebhookFormat = Type.Unsafe<WebhookFormat>({
  type: 'string',
  enum: FORMATS,
  description:
    '`json`: the whole event. `slack`: a message for an incoming webhook of Slack, or of Mattermost, Rocket.Chat or Discord (its URL with /slack at the end).',
})

/** A subscription in a response. */
export const Webhook = Type.Object(
  {
    subscription_id: Id,
    event: Type.String(LABEL),
    url: Type.String({
      ...TEXT,
      description:
        'With the format `slack`, the URL is stored encrypted and only its beginning is returned, because anyone who knows it can post to the channel.',
    }),
    format: WebhookFormat,
    template: Type.Union([Type.String(TEXT), Type.Null()], {
      description: 'The text of a message; null: the default text for the event, or the format `json`.',
    }),
    url_filter: Nullable(UrlFilter),
    where: Nullable(Where, 'Conditions on the event, all of which must be true for a delivery.'),
    segment_id: Nullable(Id, 'The only segment whose entries or exits are delivered; null: of every segment.'),
    header_names: Type.Array(Type.String(WORD), {
      description: 'Names of the custom headers. Their values are never returned.',
    }),
    status: Type.Unsafe<'active' | 'paused'>({ type: 'string', enum: ['active', 'paused'] }),
    previous_secret_until: Type.Union([Timestamp, Type.Null()], {
      description: 'Until then, the secret before the latest rotation also signs.',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Webhook' },
)
export type Webhook = Type.Static<typeof Webhook>

/** A subscription's recent results. */
export const WebhookHealth = Type.Object(
  {
    subscription_id: Id,
    pending: Type.Integer({ description: 'Deliveries that wait for their first or next attempt.' }),
    succeeded: Type.Integer({ description: 'Delivered in the last 24 hours.' }),
    failed: Type.Integer({ description: 'Failed for good in the last 24 hours.' }),
    latest: Type.Integer({ description: 'The number of recently attempted deliveries, at most 10.' }),
    latest_failed: Type.Integer({ description: 'How many of these failed in their latest attempt.' }),
    is_failing: Type.Boolean({ description: 'Whether the most recent attempts all failed.' }),
    last_success_at: Nullable(Timestamp),
    last_failure_at: Nullable(Timestamp),
  },
  { title: 'WebhookHealth' },
)
export type WebhookHealth = Type.Static<typeof WebhookHealth>

const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const
export const DeliveryStatus = Type.Unsafe<(typeof DELIVERY_STATUSES)[number]>({
  type: 'string',
  enum: DELIVERY_STATUSES,
})

const WebhookAttempt = Type.Object({
  attempt: Type.Integer(),
  at: Timestamp,
  latency_ms: Type.Integer(),
  status_code: Type.Union([Type.Integer(), Type.Null()], { description: 'null: no response arrived.' }),
  body: Type.Union([Type.String(TEXT), Type.Null()], { description: "The beginning of the receiver's response." }),
  error: Nullable(Type.String(TEXT)),
  address: Type.Union([Type.String(personal('ip')), Type.Null()], { description: 'The IP address that was called.' }),
})

/** A delivery with its log. */
export const WebhookDelivery = Type.Object(
  {
    delivery_id: Id,
    subscription_id: Id,
    event_id: Id,
    event: Type.String(LABEL),
    is_test: Type.Boolean(),
    status: DeliveryStatus,
    attempt_count: Type.Integer(),
    next_attempt_at: Type.Union([Timestamp, Type.Null()], { description: 'null once it is finished.' }),
    created_at: Timestamp,
    finished_at: Nullable(Timestamp),
    payload: Type.Union([Type.String(TEXT), Type.Null()], {
      description: 'The body that every attempt sends; null before the first one.',
    }),
    attempts: Type.Array(WebhookAttempt),
  },
  { title: 'WebhookDelivery' },
)
export type WebhookDelivery = Type.Static<typeof WebhookDelivery>

/** An event type with a sample delivery. */
export const WebhookEventType = Type.Object(
  {
    event: Type.String(LABEL),
    summary: Type.String(TEXT),
    is_system: Type.Boolean({ description: 'Recorded by the service itself.' }),
    sample: Type.Unknown({ description: "An example of a delivery's body.", ...bag('any') }),
  },
  { title: 'WebhookEventType' },
)
export type WebhookEventType = Type.Static<typeof WebhookEventType>
