import { type ErrorDetail, validationError } from '../platform/errors.ts'

const HEADERS_MAX = 20
const VALUE_LENGTH_MAX = 4_096
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
/** Visible characters, with spaces and tabs between them. A line break would start another header. */
const VALUE = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/
const RESERVED =
  /^(host|content-.*|connection|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|date|webhook-.*|x-service-.*)$/i

export interface CustomHeader {
  name: string
  value: string
}

/** Reads `Name: value`. @throws ServiceError 400 */
export function parseHeader(text: string): CustomHeader {
  const colon = text.indexOf(':')
  if (colon < 1) throw validationError([{ path: 'headers', message: "must be written as 'Name: value'" }])
  return { name: text.slice(0, colon).trim(), value: text.slice(colon + 1).trim() }
}

/** Validates custom headers. No message contains a value, because it may be a secret. @throws ServiceError 400 */
export function checkHeaders(headers: readonly CustomHeader[]): void {
  const details: ErrorDetail[] = []
  if (headers.length > HEADERS_MAX) details.push({ path: 'headers', message: `must be ${HEADERS_MAX} at the most` })
  const seen = new Set<string>()
  for (const [index, { name, value }] of headers.entries()) {
    const problem = (what: string, message: string) => details.push({ path: `headers[${index}].${what}`, message })
    if (!NAME.test(name)) problem('name', 'must be a header name: letters, digits and dashes')
    else if (RESERVED.test(name)) problem('name', `${name} is set by the service; choose another name`)
    else if (seen.has(name.toLowerCase())) problem('name', `${name} appears twice`)
    if (!VALUE.test(value) || value.length > VALUE_LENGTH_MAX) {
      problem('value', `must be 1 to ${VALUE_LENGTH_MAX} visible ASCII characters`)
    }
    seen.add(name.toLowerCase())
  }
  if (details.length > 0) throw validationError(details)
}
