import { attempt, warn } from './guard.ts'

export type Fields = Record<string | number, unknown>

/** Whether a value is an object with fields, not a list, a function, a promise or an object of the browser. */
export function isPlain(value: unknown): value is Fields {
  return attempt(() => ({}).toString.call(value)) === '[object Object]'
}

/** The text of a text or an exact number, '' if there is none; undefined for what cannot be an id, such as an object. */
export function textOf(value: unknown, name: string): string | undefined {
  if (typeof value === 'string' || (typeof value === 'number' && Math.abs(value) < 2 ** 53)) return `${value}`
  return value == null ? '' : void warn(`${name} is not a string`)
}

/**
 * An id, without the space around it; undefined if there is none. One that is longer than the service accepts is left out,
 * because two of them could be cut to the same.
 */
export function idOf(value: unknown, name: string): string | undefined {
  const id = textOf(value, name)?.trim()
  return /.{201}/su.test(id as string) ? void warn(`${name} is too long`) : id || undefined
}
