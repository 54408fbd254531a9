import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { CLI, MAIN, openDirectory, RUNNING, type Started, startProcess } from './process.ts'
import { startScriptedModel } from './scripted-model.ts'
import { type Answer, call } from './service.ts'

const CONTACTS = 24
/** Looked at at once: so many answers of the model may be lost with the process. */
const IN_FLIGHT = 4

test('a run whose process is killed goes on where it was, and proposes nothing twice', async () => {
  const directory = await openDirectory()
  const model = await startScriptedModel()
  const environment = {
    CDS_DATA_DIR: directory,
    PORT: '0',
    HOST: '127.0.0.1',
    CDS_RATE_LIMITS: 'off',
    CDS_LOG_LEVEL: 'warn',
    CDS_LLM_ALLOW_PRIVATE: '1',
  }
  const cds = (...args: string[]) =>
    JSON.parse(
      execFileSync(process.execPath, [CLI, ...args, '--json'], {
        env: { ...process.env, ...environment },
        encoding: 'utf8',
      }),
    )
  const tenant = cds('tenant', 'create', '--name', 'Crash').tenant_id
  const key = cds('key', 'create', '--tenant', tenant, '--name', 'k', '--scopes', 'all').api_key
  let service: Started | undefined
  try {
    service = await startProcess(MAIN, [], environment, RUNNING)
    let url = urlOf(service)
    const request = (method: string, path: string, body?: object): Promise<Answer> =>
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
    await service.end('SIGKILL')
    service = await startProcess(MAIN, [], environment, RUNNING)
    url = urlOf(service)
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
    // Nobody is looked at again but those whose answer was on its way.
    expect(model.asked.length).toBeLessThanOrEqual(CONTACTS + IN_FLIGHT)
  } finally {
    await service?.end('SIGTERM')
    await model.close()
    await rm(directory, { recursive: true, force: true })
  }
}, 600_000)

function urlOf(service: Started): string {
  return RUNNING.exec(service.output())?.[1] ?? ''
}
