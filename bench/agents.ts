import { URL_OF_SERVICE, withKey } from './load.ts'
import { memoryOf } from './processes.ts'
import { number, progress, rate, report } from './report.ts'
import type { Target } from './target.ts'

/** The maximum of a run. */
const CONTACTS = 1_000
/** By then, a run uses its normal memory. */
const EARLY = 200
const POLL_MS = 250

/**
 * Runs of an agent with the template provider: the cost of reading contexts, writing results and creating notes, without
 * a model. The first run warms the databases' caches; the second shows whether memory grows with the number of contacts.
 */
export async function measureAgents({ raw, service }: Target): Promise<void> {
  progress(`a run of an agent over ${CONTACTS} contacts`)
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(URL_OF_SERVICE + path, {
      method,
      headers: { ...withKey(raw.apiKey), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const parsed = await response.json()
    if (!response.ok) throw new Error(JSON.stringify(parsed))
    return parsed
  }
  const contactIds = raw.contactIds.slice(0, CONTACTS)
  const agent = {
    name: 'Bench',
    capabilities: ['notes'],
    llm_config: { provider: 'template' },
    playbook: { messages: { note: { content: '{{contact.name | Somebody}}: {{activity.total_events}} events' } } },
  }
  const { agent_id } = (await call('POST', '/v1/agents', agent)).agent
  const run = async (contact_ids: readonly string[]) => {
    const { job_id } = await call('POST', `/v1/agents/${agent_id}/trigger`, { contact_ids })
    let early = 0
    for (;;) {
      const { run } = await call('GET', `/v1/agents/runs/${job_id}?mode=summary`)
      if (early === 0 && run.summary.contacts_evaluated >= EARLY) early = memoryOf(service.process.pid ?? 0) ?? 0
      if (run.status !== 'queued' && run.status !== 'running') {
        return { run, early, late: memoryOf(service.process.pid ?? 0) ?? 0 }
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
  await run(contactIds)
  const { run: whole, early, late } = await run(contactIds)
  if (whole.summary.contacts_evaluated !== contactIds.length) throw new Error(JSON.stringify(whole))
  const seconds = (Date.parse(whole.completed_at) - Date.parse(whole.started_at)) / 1000
  report({
    what: `agent run, template provider, a note each, ${number(contactIds.length)} contacts`,
    measured: `${rate(contactIds.length / seconds)} contacts/s; ${early} MB after ${EARLY}, ${late} MB at the end`,
    limit: '',
    ratio: null,
    aim: 'flat memory',
  })
}
