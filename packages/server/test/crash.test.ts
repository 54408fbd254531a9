import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { isOwnId } from '../src/platform/ids.ts'
import { KillableService } from './killable.ts'
import { openDirectory } from './process.ts'
import { seededRandom } from './seed.ts'
import { insertTenantOf } from './service.ts'

const KILLS = 4
/** Sent before the earliest moment of a kill: a slow machine serves few. */
const BATCHES_A_KILL = 24

interface Sent {
  eventIds: string[]
  acknowledged: boolean
}

test(`killed ${KILLS} times under load, every acknowledged event is there once, and none twice`, async () => {
  // On a real disk, as an installation.
  const directory = await openDirectory(tmpdir())
  const random = seededRandom()
  const service = new KillableService({ CDS_DATA_DIR: directory })
  const sent: Sent[] = []
  try {
    let url = await service.start()
    const { key, site } = await insertTenantOf(directory)
    for (let kill = 0; kill < KILLS; kill++) {
      const stop = { now: false }
      const senders = Array.from({ length: 8 }, () => sendUntil({ url, site }, sent, stop))
      const enough = sent.length + BATCHES_A_KILL
      while (sent.length < enough) await sleep(5)
      await sleep(random() * 300)
      await service.kill()
      stop.now = true
      await Promise.all(senders)
      url = await (kill < KILLS - 1 ? service.start() : service.startLast())
      // Unacknowledged batches are sent again with the same ids, as the tracker does.
      for (const batch of sent.filter(({ acknowledged }) => !acknowledged)) await send({ url, site }, batch)
    }
    const stored = await storedIds(url, key)
    const wanted = sent.flatMap(({ eventIds }) => eventIds)
    expect(sent.every(({ acknowledged }) => acknowledged)).toBe(true)
    expect(wanted.length).toBeGreaterThan(200)
    expect(new Set(stored).size).toBe(stored.length)
    expect([...stored].sort()).toEqual([...wanted].sort())
  } finally {
    await service.close()
    await rm(directory, { recursive: true, force: true })
  }
}, 1_200_000)

/**
 * An id that the service keeps. One in a million UUIDs looks like one of its own, and an event with such an id is recorded
 * under a new one: among the thousands compared here, one run in a hundred would send one.
 */
function newEventId(): string {
  const id = v7()
  return isOwnId(id) ? newEventId() : id
}

interface Target {
  url: string
  site: string
}

async function sendUntil(target: Target, sent: Sent[], stop: { now: boolean }): Promise<void> {
  while (!stop.now) {
    const batch = { eventIds: [newEventId(), newEventId(), newEventId()], acknowledged: false }
    sent.push(batch)
    await send(target, batch).catch(() => sleep(20))
  }
}

async function send({ url, site }: Target, batch: Sent): Promise<void> {
  const events = batch.eventIds.map((event_id) => ({ event_id, event: 'crash' }))
  const response = await fetch(`${url}/track`, {
    method: 'POST',
    headers: { origin: `https://${site}`, 'content-type': 'application/json' },
    body: JSON.stringify({ visitor_id: 'v', events }),
  })
  if (response.ok) batch.acknowledged = true
}

async function storedIds(url: string, key: string): Promise<string[]> {
  const ids: string[] = []
  for (let page = 1; ; page++) {
    const response = await fetch(`${url}/v1/events?fields=summary&limit=100&page=${page}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const { events } = (await response.json()) as { events: { id: string }[] }
    if (events.length === 0) return ids
    ids.push(...events.map(({ id }) => id))
  }
}
