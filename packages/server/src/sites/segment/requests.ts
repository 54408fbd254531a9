import Type from 'typebox'
import { withFlawsOf } from '../../platform/http/body-parts.ts'
import { success } from '../../platform/http/responses.ts'
import { isObject } from '../../platform/is-object.ts'
import { fieldsOf } from './fields.ts'
import { CALL_TYPES, type CallType } from './translate.ts'

/**
 * As many as Segment accepts. Its SDK for browsers sends what waited while the service was away in one request of up to
 * 450 KB, however many calls it has, and drops them all if they are rejected.
 */
const CALLS_MAX = 2_500

const SHARED = {
  writeKey: Type.Optional(Type.String({ description: 'Instead of the Authorization header.' })),
  sentAt: Type.Optional(
    Type.Unknown({ description: "The sender's clock when it sends, used to correct the timestamps." }),
  ),
}

const LEFT_OUT = { 'x-unstorable': 'left-out' }
const ID = { 'x-digits': true }
/**
 * A call with a value that cannot be stored fails, but for traits, context and fields that are not read, such as
 * `integrations`: of these, such values are left out one by one.
 */
const ONE_CALL = {
  'x-unstorable': 'fails',
  'x-parts': {
    properties: {
      userId: ID,
      anonymousId: ID,
      groupId: ID,
      previousId: ID,
      messageId: ID,
      // Read as they are: one that cannot be stored fails the call.
      type: {},
      event: {},
      name: {},
      category: {},
      properties: {},
      timestamp: {},
      originalTimestamp: {},
      sentAt: {},
    },
    additionalProperties: LEFT_OUT,
  },
} as const

/** A call: its fields are those of the SDKs, and others are ignored. */
export const CallBody = Type.Object(
  {
    ...SHARED,
    userId: Type.Optional(Type.Unknown({ description: "Your own system's id for the person: a string or a number." })),
    anonymousId: Type.Optional(Type.Unknown({ description: 'The visitor: a string of at most 200 characters.' })),
    messageId: Type.Optional(
      Type.Unknown({ description: 'Any text. The call is recorded once, however often its source sends it.' }),
    ),
    timestamp: Type.Optional(
      Type.Unknown({
        description:
          'When it happened: ISO 8601, in UTC if it has no offset, or seconds or milliseconds since 1970. It is preferred to originalTimestamp.',
      }),
    ),
    context: Type.Optional(Type.Unknown({ description: 'Page, locale, time zone, screen, user agent and traits.' })),
  },
  { title: 'SdkCall', additionalProperties: true, ...ONE_CALL },
)

/** A call of each type, for openapi.json. */
export const CALL_EXAMPLES: Readonly<Record<CallType, object>> = {
  track: { userId: 'user-42', event: 'Order Completed', properties: { total: 49.9 }, messageId: 'a1' },
  identify: { userId: 'user-42', traits: { email: 'ada@example.com', firstName: 'Ada' }, messageId: 'a2' },
  page: {
    userId: 'user-42',
    name: 'Pricing',
    properties: { url: 'https://shop.example.com/pricing' },
    messageId: 'a3',
  },
  screen: { userId: 'user-42', name: 'Basket', properties: { items: 2 }, messageId: 'a4' },
  group: { userId: 'user-42', groupId: 'org-7', traits: { name: 'Analytical Engines' }, messageId: 'a5' },
  alias: { userId: 'user-42', previousId: 'anonymous-7', messageId: 'a6' },
}

/** Many calls, each with its `type`. */
export const BatchBody = Type.Object(
  {
    ...SHARED,
    batch: Type.Array(Type.Unknown(ONE_CALL), {
      minItems: 1,
      maxItems: CALLS_MAX,
      description: `1 to ${CALLS_MAX.toLocaleString('en')} calls; \`type\` is one of ${CALL_TYPES.join(', ')}.`,
      examples: [[{ type: 'track', userId: 'user-42', event: 'Order Completed', messageId: 'a1' }]],
    }),
    context: Type.Optional(Type.Unknown({ description: 'Added to the context of each call.' })),
  },
  { title: 'SdkBatch', additionalProperties: true, ...LEFT_OUT },
)

export type BatchBody = Type.Static<typeof BatchBody>

/** SDKs expect `success`, because their own services return it. */
export const SdkResponse = { ...success({ success: Type.Literal(true) }), title: 'SdkResult' }
export const RECORDED = { status: 'success', success: true } as const

/** The documented paths, with the short ones of Segment's SDK for browsers. */
export const CALL_PATHS: Readonly<Record<CallType, readonly string[]>> = {
  track: ['/v1/track', '/v1/t'],
  identify: ['/v1/identify', '/v1/i'],
  page: ['/v1/page', '/v1/p'],
  screen: ['/v1/screen', '/v1/s'],
  group: ['/v1/group', '/v1/g'],
  alias: ['/v1/alias', '/v1/a'],
}
export const BATCH_PATHS = ['/v1/batch', '/v1/b', '/v1/import'] as const
export const BEACON_PATH = '/beacon/v1/batch'
/** The API has this path too, so the credentials decide whose request it is: see `bySdk`. */
export const SHARED_PATH = '/v1/identify'

/** The calls of a batch, with the context that they share. */
export function callsOf({ batch, context }: BatchBody): unknown[] {
  if (context === undefined) return batch
  const shared = fieldsOf(context)
  return batch.map((call) =>
    isObject(call) ? withFlawsOf(call, { ...call, context: { ...shared, ...fieldsOf(call.context) } }) : call,
  )
}
