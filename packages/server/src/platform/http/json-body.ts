import { ServiceError } from '../errors.ts'

/** The size limit of a body, unless a route has another. */
export const BODY_BYTES_MAX = 1024 * 1024

/** Parses JSON without a check of its values. @throws ServiceError 400 `invalid_json`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (cause) {
    throw new ServiceError(400, 'invalid_json', 'The body is not valid JSON. Send one JSON object.', { cause })
  }
}

/** Whether a text can be stored unchanged: no NUL, no lone surrogate. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}
