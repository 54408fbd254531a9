import { expect, test } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../platform/time.ts'
import type { Client } from '../client.ts'
import { OVERLAP_SECONDS, readPage } from './api.ts'

const START = Date.parse('2026-03-01T09:17:00Z')
const READING = { type: 'contacts', properties: [], changedAt: 'lastmodifieddate', hasDeleted: true }

/** Runs one read. @returns the deleted records that it finds, and how often it requests their list. */
async function run(before: number | null, at: number, deletedAt: ReadonlyMap<string, number>, isHistory = false) {
  let lists = 0
  const unexpected = () => {
    throw new Error('Reading a page only calls the API.')
  }
  const client: Client = {
    call: async ({ query = {} }) => {
      if (query.archived !== 'true') return { results: [] }
      lists++
      const archived = [...deletedAt].filter(([, time]) => time <= at)
      return { results: archived.map(([id, time]) => ({ id, archivedAt: new Date(time).toISOString() })) }
    },
    callList: unexpected,
    callText: unexpected,
    pause: unexpected,
    download: unexpected,
  }
  const overlapMs = isHistory ? 0 : OVERLAP_SECONDS * 1_000
  const since = before === null ? null : new Date(before - overlapMs)
  const found: string[] = []
  for (let cursor: Parameters<typeof readPage>[2]['cursor'] = null; ; ) {
    const page = await readPage(client, READING, { since, until: new Date(at), isHistory, cursor })
    found.push(...page.deleted)
    if (page.next === null) return { found, lists }
    cursor = page.next
  }
}

test('deleted records are listed once every six hours, and all of them are found', async () => {
  const deletedAt = new Map(Array.from({ length: 300 }, (_, n) => [String(n), START + n * 7 * MINUTE_MS]))
  const found = new Set<string>()
  let lists = 0
  let before = START
  for (let at = START + 10 * MINUTE_MS; at < START + 48 * HOUR_MS; before = at, at += 10 * MINUTE_MS) {
    const each = await run(before, at, deletedAt)
    for (const id of each.found) found.add(id)
    lists += each.lists
  }
  expect(lists).toBe(8)
  const until = Date.parse('2026-03-03T06:00:00Z') - MINUTE_MS
  const wanted = [...deletedAt].filter(([, time]) => time < until).map(([id]) => id)
  expect(wanted.filter((id) => !found.has(id))).toEqual([])
})

test('after a pause, and in a read from the start, everything that was deleted in the meantime is found', async () => {
  const deletedAt = new Map([
    ['1', START + HOUR_MS],
    ['2', START + 30 * HOUR_MS],
  ])
  expect(await run(START, START + 72 * HOUR_MS, deletedAt)).toEqual({ found: ['1', '2'], lists: 1 })
  expect(await run(null, START + 72 * HOUR_MS, deletedAt, true)).toEqual({ found: ['1', '2'], lists: 1 })
  const since = START + 29 * HOUR_MS
  expect(await run(since, since + 90 * MINUTE_MS, deletedAt, true)).toEqual({ found: ['2'], lists: 1 })
})
