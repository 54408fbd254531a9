import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { MINUTE_MS } from '../src/platform/time.ts'
import { createDatabase } from './databases.ts'
import { KillableService, moveDatabaseClock } from './killable.ts'
import { openDirectory } from './process.ts'
import { call, insertTenant, type TestResponse } from './service.ts'

const PEOPLE = 30
const AHEAD_MS = MINUTE_MS

test('every acknowledged event has its contact looked at once, however often the process is killed', async () => {
  const directory = await openDirectory()
  const databaseUrl = await createDatabase()
  const postgres = connectPostgres<DB>({ connectionString: databaseUrl }, 1)
  const service = new KillableService({ CDS_DATA_DIR: directory, DATABASE_URL: databaseUrl })
  try {
    const { key } = await insertTenant(postgres.db)
    let url = await service.start()
    const request = (method: string, path: string, body?: object): Promise<TestResponse> =>
      call({ url }, method, path, {
        headers: { authorization: `Bearer ${key}` },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
    const agent = { name: 'Upgrades', capabilities: ['notes'], monitoring: { triggers: [{ event: 'plan_viewed' }] } }
    const created = await request('POST', '/v1/agents', { ...agent, enabled: true })
    expect(created.status).toBe(201)
    const { agent_id } = created.body.agent
    const people = Array.from({ length: PEOPLE }, (_, index) => `c${index}@example.com`)
    for (const email of people) await request('POST', '/v1/contacts', { email })

    const acknowledged = new Set<string>()
    const view = async (email: string) => {
      const response = await request('POST', '/v1/events', { events: [{ event: 'plan_viewed', email }] }).catch(
        () => null,
      )
      if (response?.status === 200) acknowledged.add(email)
    }
    // Killed while it records, right after it has acknowledged, and while it looks.
    const thirds = [people.slice(0, 10), people.slice(10, 20), people.slice(20)]
    for (const [index, some] of thirds.entries()) {
      const sent = some.map(view)
      await Promise.race(sent)
      if (index > 0) await Promise.all(sent)
      await service.kill()
      await Promise.all(sent)
      await moveDatabaseClock(databaseUrl, AHEAD_MS * (index + 1))
      const isLast = index === thirds.length - 1
      url = await (isLast ? service.startLast(AHEAD_MS * 3) : service.start(AHEAD_MS * (index + 1)))
    }
    expect(acknowledged.size).toBeGreaterThan(20)

    const looked = async () => {
      const { runs } = (await request('GET', `/v1/agents/${agent_id}/runs?limit=100`)).body
      const results = await Promise.all(
        runs.map(
          async ({ run_id }: { run_id: string }) => (await request('GET', `/v1/agents/runs/${run_id}`)).body.run,
        ),
      )
      const contacts = results.flatMap(({ contact_results }) => contact_results)
      return contacts.map(({ contact_id }: { contact_id: string }) => contact_id)
    }
    const idOf = new Map<string, string>()
    for (const { contact_id, properties } of (await request('GET', '/v1/contacts?limit=100')).body.contacts) {
      idOf.set(properties.email, contact_id)
    }
    const expected = [...acknowledged].map((email) => idOf.get(email))
    await expect.poll(looked, { interval: 1_000 }).toEqual(expect.arrayContaining(expected))
    const all = await looked()
    expect(all.length).toBe(new Set(all).size)
  } finally {
    await service.close()
    await postgres.close()
    await rm(directory, { recursive: true, force: true })
  }
})
