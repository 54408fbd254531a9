import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { MINUTE_MS } from '../src/platform/time.ts'
import { createDatabase } from './databases.ts'
import { KillableService, moveDatabaseClock } from './killable.ts'
import { openDirectory } from './process.ts'
import { startScriptedModel } from './scripted-model.ts'
import { call, insertTenant, type TestResponse } from './service.ts'

const CONTACTS = 24
/** Contacts evaluated at once: at most this many responses of the model are lost with the process. */
const IN_FLIGHT = 4
const AHEAD_MS = MINUTE_MS

test('a run continues after its process was killed, and proposes nothing twice', async () => {
  const directory = await openDirectory()
  const model = await startScriptedModel()
  const databaseUrl = await createDatabase()
  const postgres = connectPostgres<DB>({ connectionString: databaseUrl }, 1)
  const service = new KillableService({
    CDS_DATA_DIR: directory,
    DATABASE_URL: databaseUrl,
    CDS_LLM_ALLOW_PRIVATE: '1',
  })
  try {
    const { key } = await insertTenant(postgres.db)
    let url = await service.start()
    const request = (method: string, path: string, body?: object): Promise<TestResponse> =>
      call({ url }, method, path, {
        headers: { authorization: `Bearer ${key}` },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
    const contactIds: string[] = []
    for (let index = 0; index < CONTACTS; index++) {
      const { body } = await request('POST', '/v1/contacts', { email: `c${index}@example.com` })
      contactIds.push(body.contact.contact_id)
    }
    const llm_config = { provider: 'openai_compatible', base_url: model.url, model: 'scripted' }
    const agent = { name: 'Crash', capabilities: ['notes'], llm_config }
    const { agent_id } = (await request('POST', '/v1/agents', agent)).body.agent

    model.answer = () => ({
      content: { reasoning: 'x', actions: [{ type: 'note', params: { content: 'Once.' } }] },
      delayMs: 100,
    })
    const { job_id } = (await request('POST', `/v1/agents/${agent_id}/trigger`, { contact_ids: contactIds })).body
    await expect.poll(() => model.asked.length, { timeout: 90_000 }).toBeGreaterThan(8)
    await service.kill()
    // Longer than the silence after which a process counts as dead.
    await moveDatabaseClock(databaseUrl, AHEAD_MS)
    url = await service.startLast(AHEAD_MS)
    const before = (await request('GET', `/v1/agents/runs/${job_id}`)).body.run
    expect(before.status).toBe('running')
    expect(before.summary.contacts_evaluated).toBeGreaterThan(0)

    const read = async () => (await request('GET', `/v1/agents/runs/${job_id}`)).body.run
    await expect.poll(async () => (await read()).status, { timeout: 180_000, interval: 500 }).toBe('completed')
    const run = await read()
    expect(run.summary).toMatchObject({ contacts_evaluated: CONTACTS, actions_proposed: CONTACTS, errors: 0 })
    const results: { contact_id: string; proposed_actions: unknown[] }[] = run.contact_results
    expect(results.map(({ contact_id }) => contact_id)).toEqual(contactIds)
    expect(results.every(({ proposed_actions }) => proposed_actions.length === 1)).toBe(true)
    // Only contacts whose response was in flight are evaluated again.
    expect(model.asked.length).toBeLessThanOrEqual(CONTACTS + IN_FLIGHT)
  } finally {
    await service.close()
    await postgres.close()
    await model.close()
    await rm(directory, { recursive: true, force: true })
  }
})
