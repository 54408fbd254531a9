import { attempt, warn } from './guard.ts'
import { hex } from './ids.ts'
import { type Fields, isPlain } from './values.ts'

const DEPTH_MAX = 9
/** In bytes of JSON: the service rejects events with more than 32 KiB of data. */
const BUDGET = 32_000
/** What looking at an object costs, so that time is limited too. */
const OBJECT_COST = 9
/** A larger object is written once, else objects that refer to each other would fill the budget. */
const SHARED_MAX = 500

let budget = 0
/** The JSON of each object, so that one that is used often is written once; undefined while it is being written. */
let written = new Map<unknown, string | undefined>()

/**
 * Converts any value to JSON that the service accepts. The page may have replaced JSON, or added a toJSON to arrays. What is
 * no data (a function, a node, the window, an object within itself) or throws when it is read is left out alone, which the
 * console says.
 * @returns '' if the value is no data, or larger than the budget.
 */
export function serialize(value: unknown, bytesMax = BUDGET): string {
  budget = bytesMax
  written = new Map()
  return attempt(() => write(value, 0)) ?? ''
}

/** @returns undefined if the value is left out, '' if there is none. */
function write(value: unknown, depth: number): string | undefined {
  if (value === undefined) return ''
  // A longer text exceeds the budget anyway; so does a longer list.
  if (typeof value === 'string') return spend(quote(value.slice(0, BUDGET)))
  // Finite numbers, booleans and null; NaN has no JSON, and a symbol throws.
  // biome-ignore lint/suspicious/noDoubleEquals: the difference of two bigints is a bigint
  if (Object(value) !== value) return spend((value as number) - (value as number) == 0 ? `${value}` : 'null')
  const known = written.get(value)
  if (depth > DEPTH_MAX || written.has(value)) return known && known.length < SHARED_MAX ? spend(known) : undefined
  written.set(value, undefined)
  budget -= OBJECT_COST
  const isList = Array.isArray(value)
  const object = value as Fields & unknown[] & { toJSON?: () => unknown }
  let json: string | undefined
  if (!isList && object.toJSON) json = write(object.toJSON(), depth + 1)
  else if (isList || isPlain(object)) {
    const parts: string[] = []
    for (const key of Object.keys(isList ? object.slice(0, BUDGET).fill(0) : object)) {
      const part = attempt(() => write((object as Fields)[key], depth + 1))
      if (part === undefined) warn(`${key} is no data`)
      if (isList) parts.push(part || `${spend('null')}`)
      else if (part) parts.push(`${spend(quote(key))}:${part}`)
      if (budget < 0) return
    }
    json = isList ? `[${parts}]` : `{${parts}}`
  }
  written.set(value, json)
  return json
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
function quote(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has them escaped
  const escaped = text.replace(/[\0\ud800-\udfff]/gu, '\ufffd').replace(/["\\\x01-\x1f]/g, (character) => {
    return `\\u${hex(character.charCodeAt(0), 4)}`
  })
  return `"${escaped}"`
}
