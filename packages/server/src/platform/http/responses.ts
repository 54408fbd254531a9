import type { TSchema } from 'typebox'
import Type from 'typebox'
import { notFound, type ServiceError } from '../errors.ts'
import { isUuid } from '../ids.ts'
import { ABOUT_CONTACT, TEXT, WORD } from '../personal.ts'

/** A timestamp in a response: UTC, milliseconds, `Z`. */
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-31T08:00:00.000Z'] })

const ID = { format: 'uuid', examples: ['019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071'] }
export const Id = Type.String(ID)
/** The id of the contact that the object is about. */
export const ContactId = Type.String({ ...ID, ...ABOUT_CONTACT })

/** A value that may be missing. */
export function Nullable<const Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
}

/** The names of the fields that a request changed. */
export const Changed = Type.Array(Type.String(WORD), { description: 'The names of the fields that changed.' })

/** A success response: `status` and the given fields. */
export function success<const Fields extends Record<string, TSchema>>(fields: Fields) {
  return Type.Object(
    { status: Type.Literal('success'), ...fields, warnings: Type.Optional(Type.Array(Type.String(TEXT))) },
    { 'x-response-description': 'Success.' },
  )
}

/** The response of a route that returns a file or a stream: its type, and what it is. */
export function fileResponse(type: string, description: string) {
  return { description, content: { [type]: { schema: { type: 'string' } } } }
}

/** An invalid value of a request. */
export const Detail = Type.Object(
  { path: Type.String({ examples: ['events[2].event'], ...TEXT }), message: Type.String(TEXT) },
  { title: 'ErrorDetail' },
)

/** The error of one of many records. */
export const RecordError = Type.Object(
  { code: Type.String(WORD), message: Type.String(TEXT) },
  { title: 'RecordError' },
)

export const ErrorResponse = Type.Object(
  {
    status: Type.Literal('error'),
    error: Type.Object({
      code: Type.String({ description: 'Stable, machine-readable.' }),
      message: Type.String({ description: 'What went wrong and what to do, for people.' }),
      details: Type.Optional(Type.Array(Detail)),
      request_id: Type.String(),
    }),
  },
  { title: 'Error', description: 'Every error has this shape.' },
)

/** An error by its status and code, as `409 webhook_paused`. */
export type NamedError = `${number} ${string}`

/** What every route can return that reads or writes the databases and counts its requests. */
export const ROUTE_ERRORS: readonly NamedError[] = [
  '429 rate_limited',
  '500 internal_error',
  '503 overloaded',
  '503 storage_full',
  '503 store_unavailable',
]

/** What every route can return that reads a body, whatever its content type. */
export const BODY_ERRORS: readonly NamedError[] = [
  '400 invalid_content_encoding',
  '400 invalid_json',
  '413 body_too_large',
  '415 unsupported_content_encoding',
]

/**
 * The responses for some errors, by status; each describes the codes that it can have. The type names no status, so that
 * the type of a handler stays that of its successes.
 */
export function errorResponses(errors: readonly NamedError[]): object {
  const byStatus = Map.groupBy(errors, (error) => error.slice(0, 3))
  const responses = [...byStatus].sort().map(([status, ofStatus]) => {
    const codes = ofStatus.map((error) => `\`${error.slice(4)}\``)
    return [status, { ...ErrorResponse, 'x-response-description': codes.join(', ') }]
  })
  return Object.fromEntries(responses)
}

/** A path id as stored, or 404: a malformed id simply does not exist. */
export function pathId(text: string, what: string): string {
  if (!isUuid(text)) throw notFound(what) satisfies ServiceError
  return text.toLowerCase()
}
