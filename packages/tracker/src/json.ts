import { attempt, warn } from './guard.ts'
import { hex } from './ids.ts'
import { type Fields, isPlain } from './values.ts'

const DEPTH_MAX = 9
/** In bytes of JSON: the service rejects events with more than 32 KiB of data. */
const BUDGET = 32_000
/** The largest budget, in bytes: longer texts and lists are not looked at to their end. */
export const BUDGET_MAX = 200_000
/** What looking at an object costs, so that time is limited too. */
const OBJECT_COST = 9
/** A larger object is written once, else objects that refer to each other would fill the budget. */
const SHARED_MAX = 500

/** What may still be spent. A getter that calls the tracker spends from what is left, else the page would hang. */
let budget = Infinity

/**
 * Converts any value to JSON that the service accepts. The page may have replaced JSON, or added a toJSON to arrays. What is
 * not data (a function, a node, the window, an object within itself) or throws when it is read is left out alone, which the
 * console says.
 * @param depth of the value. Up to depth 0, a field that is too large is left out alone, or replaced in an event.
 * @returns '' if the value is not data, or larger than the budget.
 */
export function serialize(value: unknown, bytesMax = BUDGET, depth = 0): string {
  const outer = budget
  const own = Math.min(outer, bytesMax)
  /** The JSON of each object, so that one that is used often is written once; undefined while it is being written. */
  const written = new Map<unknown, string | undefined>()

  /** @returns undefined if the value is left out, '' if there is none. */
  const write = (value: unknown, depth: number): string | undefined => {
    if (typeof value === 'string') return spend(quote(value))
    if (value === undefined) return ''
    // Finite numbers, booleans and null; NaN has no JSON, and a symbol throws.
    // biome-ignore lint/suspicious/noDoubleEquals: the difference of two bigints is a bigint
    if (Object(value) !== value) return spend((value as number) - (value as number) == 0 ? `${value}` : 'null')
    const known = written.get(value)
    if (depth > DEPTH_MAX || written.has(value))
      return (known as string)?.length < SHARED_MAX ? spend(known as string) : undefined
    written.set(value, undefined)
    budget -= OBJECT_COST
    if (budget < 0) return
    const isList = Array.isArray(value)
    const object = value as Fields & unknown[] & { toJSON?: () => unknown }
    let json: string | undefined
    if (!isList && object.toJSON) json = write(object.toJSON(), depth + 1)
    else if (isList || isPlain(object)) {
      const parts: string[] = []
      for (const key of Object.keys(isList ? object.slice(0, BUDGET_MAX).fill(0) : object)) {
        const before = budget
        const name = isList ? '' : `${quote(key)}:`
        let part = spend(name) === undefined ? undefined : attempt(() => write((object as Fields)[key], depth + 1))
        if (budget < 0) {
          if (depth > 0) return
          warn(`${key} is too large`)
          part = bytesMax > BUDGET ? '' : '{"truncated":true}'
          // Not all of it, because looking at the field took time.
          budget = before / 2
        } else if (part === undefined) warn(`${key} is not data`)
        if (isList) part ||= spend('null')
        if (part) parts.push(name + part)
      }
      json = isList ? `[${parts}]` : `{${parts}}`
    }
    written.set(value, json)
    return json
  }

  let json: string | undefined
  budget = own
  try {
    // A call within another keeps no more than it can pay for.
    json = write(value, outer > bytesMax ? depth : 1)
  } catch {}
  budget -= own - outer
  return json ?? ''
}

/** Pays for a piece of JSON and the character after it. */
function spend(json: string): string | undefined {
  budget -= bytesOf(json) + 1
  return budget < 0 ? undefined : json
}

export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Escapes a text for JSON; what the service cannot store becomes a replacement character. */
export function quote(text: string): string {
  const most = text.slice(0, BUDGET_MAX).replace(/[\0\ud800-\udfff]/gu, '\ufffd')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has them escaped
  const escaped = most.replace(/["\\\x01-\x1f]/g, (character) => `\\u${hex(character.charCodeAt(0), 4)}`)
  return `"${escaped}"`
}
