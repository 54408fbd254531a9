import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'vitest'

/** The responses that openapi.json shows, by operation. */
export const EXAMPLES = 'packages/server/examples'

/**
 * Expects that the response that openapi.json shows has every field of a real one. `npm test -- FILE -u` records what
 * is missing or differs; what is the same stays, so that only real changes show up.
 */
export async function expectExample(operationId: string, response: unknown): Promise<void> {
  const file = resolve(EXAMPLES, `${operationId}.json`)
  const recorded = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
  const example = recorded !== undefined && hasFieldsOf(recorded, response) ? recorded : readable(response)
  await expect(`${JSON.stringify(example, null, 2)}\n`).toMatchFileSnapshot(file)
}

/**
 * Whether a recorded value has every field of a response, with the same types. A field may be null, and a list empty,
 * in one of them. The recording may have more: a slow machine may respond before all is done, and a test compares every
 * recording with its schema.
 */
function hasFieldsOf(recorded: unknown, response: unknown): boolean {
  if (recorded === null || response === null) return true
  if (Array.isArray(recorded) && Array.isArray(response)) {
    return response.length === 0 || recorded.every((item) => response.some((each) => hasFieldsOf(item, each)))
  }
  if (typeof recorded !== 'object' || typeof response !== 'object') return typeof recorded === typeof response
  const fields = recorded as Record<string, unknown>
  return Object.entries(response).every(
    ([name, value]) => Object.hasOwn(fields, name) && hasFieldsOf(fields[name], value),
  )
}

const ITEMS_MAX = 2
const TEXT_LENGTH_MAX = 400
const DAY_MS = 86_400_000
/** When examples happen. */
const EXAMPLE_TIME = Date.parse('2026-01-31T08:00:00.000Z')

/** A response for readers: short, with ids, times and addresses of examples, and without anything like a secret. */
function readable(response: unknown): unknown {
  const ids = new Map<string, string>()
  const now = Date.now()
  const idOf = (id: string) => {
    if (!ids.has(id)) ids.set(id, `019a2b3c-4d5e-7f60-8a1b-2c3d4e5f60${(0x71 + ids.size).toString(16)}`)
    return ids.get(id) ?? id
  }
  const momentOf = (text: string) => {
    const sincePresent = Date.parse(text) - now
    // The request sent others.
    if (Math.abs(sincePresent) > 200 * DAY_MS) return text
    const moment = new Date(Math.floor((EXAMPLE_TIME + sincePresent) / 1_000) * 1_000).toISOString()
    return text.length === 'YYYY-MM-DD'.length ? moment.slice(0, text.length) : moment
  }
  const textOf = (text: string) =>
    text
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, idOf)
      .replaceAll(/\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?/g, momentOf)
      .replaceAll(/http(:\/\/|%3A%2F%2F)(127\.0\.0\.1|localhost)(:|%3A)\d+/g, 'https$1data.example.com')
      .replaceAll(/shop\d+\.example/g, 'shop.example')
      .replaceAll(RANDOM, (_, prefix = '') => `${prefix}EXAMPLE`)
      .replaceAll(/(?<=whsec_)[\w+/=]+/g, 'EXAMPLE')
      .slice(0, TEXT_LENGTH_MAX)
  const shown = (value: unknown): unknown => {
    if (typeof value === 'string') return textOf(value)
    if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map(shown)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [textOf(name), shown(field)]))
  }
  return shown(response)
}

/** Secrets, tokens and hashes, after their prefix: at least 20 digits and letters of both cases, or 32 hexadecimal digits. */
const RANDOM = /\b([a-z]+_)?(?=[\w-]*\d)(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[\w-]{20,}|\b[0-9a-f]{32,}\b/g
