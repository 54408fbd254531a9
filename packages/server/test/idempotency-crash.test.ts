import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { newId } from '../src/platform/ids.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { createDatabase } from './databases.ts'
import { KillableService } from './killable.ts'
import { openDirectory } from './process.ts'
import { seededRandom } from './seed.ts'
import { insertTenant } from './service.ts'

const KILLS = 2
/** After this time, the key of a request whose process died can be used again. */
const CLAIM_MS = 2 * 60_000 + 1_000

interface Sent {
  path: string
  key: string
  body: object
  /** The response; null until there is one. */
  response: unknown
}

/**
 * Each request is sent until it gets a response, always with its own Idempotency-Key. A moved clock replaces waiting
 * for dead processes' claims to end.
 */
test(`killed ${KILLS} times, each request with an Idempotency-Key changes something once`, async () => {
  const directory = await openDirectory()
  const random = seededRandom()
  const DATABASE_URL = await createDatabase()
  const postgres = connectPostgres<DB>({ connectionString: DATABASE_URL }, 1)
  const service = new KillableService({ CDS_DATA_DIR: directory, DATABASE_URL })
  const sent: Sent[] = []
  try {
    let url = await service.start()
    const { key } = await insertTenant(postgres.db)
    const send = async (request: Sent) => {
      const response = await fetch(url + request.path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': request.key,
        },
        body: JSON.stringify(request.body),
      })
      const received = await response.json()
      if (response.ok) request.response = received
    }
    const read = async (path: string) =>
      (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).json() as Promise<{
        pagination: { total_items: number }
      }>
    const noted: Sent = { path: '/v1/contacts', key: newId(), body: { email: 'ada@example.com' }, response: null }
    await send(noted)
    const { contact_id } = (noted.response as { contact: { contact_id: string } }).contact
    const kinds = [
      () => ({ path: `/v1/contacts/${contact_id}/notes`, body: { content: 'Called.' } }),
      () => ({ path: '/v1/companies', body: { name: 'Engines' } }),
      () => ({
        path: '/v1/events',
        body: {
          events: [
            { event: 'crash', visitor_id: newId() },
            { event: 'crash', contact_id },
          ],
        },
      }),
      () => ({ path: '/v1/suppressions', body: { address: `${newId()}@example.com` } }),
    ]
    for (let kill = 1; kill <= KILLS; kill++) {
      const stop = { now: false }
      const senders = kinds.map(async (kind) => {
        while (!stop.now) {
          const request = { ...kind(), key: newId(), response: null }
          sent.push(request)
          await send(request).catch(() => sleep(20))
        }
      })
      // Counts requests: a slow machine serves few.
      const enough = sent.length + 5 + Math.floor(random() * 40)
      while (sent.length < enough) await sleep(random() * 20)
      await service.kill()
      stop.now = true
      await Promise.all(senders)
      url = await (kill < KILLS ? service.start(kill * CLAIM_MS) : service.startLast(kill * CLAIM_MS))
      for (const request of sent.filter(({ response }) => response === null)) await send(request)
    }
    const of = (path: string) => sent.filter((request) => request.path === path).length
    expect(sent.filter(({ response }) => response === null)).toEqual([])
    expect(sent.filter(({ response }) => (response as { added?: boolean }).added === false)).toEqual([])
    const [notes, companies, suppressions, events] = await Promise.all([
      read(`/v1/contacts/${contact_id}/notes?limit=1`),
      read('/v1/companies?limit=1'),
      read('/v1/suppressions?limit=1'),
      read('/v1/events?event_type=crash&limit=1'),
    ])
    const totals = [notes, companies, suppressions, events].map(({ pagination }) => pagination.total_items)
    expect(totals).toEqual([
      of(`/v1/contacts/${contact_id}/notes`),
      of('/v1/companies'),
      of('/v1/suppressions'),
      2 * of('/v1/events'),
    ])
  } finally {
    await service.close()
    await postgres.close()
    await rm(directory, { recursive: true, force: true })
  }
})
