import Type, { type TStringOptions } from 'typebox'
import { SENT_ADDRESS_LENGTH_MAX } from '../email.ts'
import { ID_LENGTH_MAX } from '../ids.ts'

/** An id in a request: of a record, or of a person or thing in another system. */
export function idInput(options: TStringOptions = {}) {
  return Type.String({ minLength: 1, maxLength: ID_LENGTH_MAX, ...options })
}

/** An email address in a request, for `parseEmail`. */
export function emailInput(options: TStringOptions = {}) {
  return Type.String({ minLength: 1, maxLength: SENT_ADDRESS_LENGTH_MAX, ...options })
}
