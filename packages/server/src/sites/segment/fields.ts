import { isObject } from '../../platform/is-object.ts'

/** An object as SDKs send it: any field may be absent or of another type. */
export type Fields = Readonly<Record<string, unknown>>

const NONE: Fields = {}

/** The fields of a value; none if it is not an object. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : NONE
}

/** A text or a number as a text; '' for anything else. SDKs send ids as either. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : ''
}
