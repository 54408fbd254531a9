import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { newId } from '../src/platform/ids.ts'
import { CLI, MAIN, openDirectory, RUNNING, type Started, startProcess } from './process.ts'

const KILLS = 20

interface Sent {
  eventIds: string[]
  acknowledged: boolean
}

test(`killed ${KILLS} times under load, every acknowledged event is there once, and none twice`, async () => {
  const directory = await openDirectory()
  const environment = {
    CDS_DATA_DIR: directory,
    PORT: '0',
    HOST: '127.0.0.1',
    CDS_RATE_LIMITS: 'off',
    CDS_LOG_LEVEL: 'warn',
  }
  const cds = (...args: string[]) =>
    JSON.parse(
      execFileSync(process.execPath, [CLI, ...args, '--json'], {
        env: { ...process.env, ...environment },
        encoding: 'utf8',
      }),
    )
  const tenant = cds('tenant', 'create', '--name', 'Crash').tenant_id
  cds('domain', 'add', '--tenant', tenant, '--domain', 'crash.example', '--verified')
  const key = cds('key', 'create', '--tenant', tenant, '--name', 'k', '--scopes', 'all').api_key

  const sent: Sent[] = []
  let service: Started | undefined
  try {
    for (let kill = 0; kill <= KILLS; kill++) {
      service = await startProcess(MAIN, [], environment, RUNNING)
      const url = RUNNING.exec(service.output())?.[1] ?? ''
      // What was not acknowledged is sent again with the same ids, as the tracker does.
      for (const batch of sent.filter(({ acknowledged }) => !acknowledged)) await send(url, batch)
      if (kill === KILLS) break
      const stop = { now: false }
      const senders = Array.from({ length: 8 }, () => sendUntil(url, sent, stop))
      await sleep(50 + Math.random() * 500)
      await service.end('SIGKILL')
      stop.now = true
      await Promise.all(senders)
    }
    const url = RUNNING.exec(service?.output() ?? '')?.[1] ?? ''
    const stored = await storedIds(url, key)
    const wanted = sent.flatMap(({ eventIds }) => eventIds)
    expect(sent.every(({ acknowledged }) => acknowledged)).toBe(true)
    expect(wanted.length).toBeGreaterThan(200)
    expect(new Set(stored).size).toBe(stored.length)
    expect([...stored].sort()).toEqual([...wanted].sort())
  } finally {
    await service?.end('SIGTERM')
    await rm(directory, { recursive: true, force: true })
  }
}, 1_200_000)

async function sendUntil(url: string, sent: Sent[], stop: { now: boolean }): Promise<void> {
  while (!stop.now) {
    const batch = { eventIds: [newId(), newId(), newId()], acknowledged: false }
    sent.push(batch)
    await send(url, batch).catch(() => sleep(20))
  }
}

async function send(url: string, batch: Sent): Promise<void> {
  const events = batch.eventIds.map((event_id) => ({ event_id, event: 'crash' }))
  const response = await fetch(`${url}/track`, {
    method: 'POST',
    headers: { origin: 'https://crash.example', 'content-type': 'application/json' },
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
