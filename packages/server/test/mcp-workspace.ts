import { DAY_MS } from '../src/platform/time.ts'
import { MAIL, propose } from './actions.ts'
import type { TestService, TestTenant } from './service.ts'
import { until } from './webhooks.ts'

/** What a workspace has that the tools read and change. */
export interface Workspace {
  contactId: string
  companyId: string
  segmentId: string
  agentId: string
  runId: string
  reportId: string
  subscriptionId: string
}

export const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

/** Creates one of everything, with `text` in all names and texts. */
export async function createWorkspace(service: TestService, tenant: TestTenant, text: string): Promise<Workspace> {
  const make = async (path: string, body: unknown) => {
    const response = await tenant.call('POST', path, body)
    if (response.status > 202) throw new Error(JSON.stringify(response.body))
    return response.body
  }
  const companyId: string = (await make('/v1/companies', { domain: `${text}.example`, name: text })).company.company_id
  const email = `${text}@example.com`
  const more = { visitor_id: `visitor-${text}`, company_id: companyId }
  const contactId = await tenant.contact(email, { firstname: text, jobtitle: text }, more)
  await make(`/v1/contacts/${contactId}/notes`, { content: text })
  const url = `https://${tenant.site}/${text}`
  await make('/v1/events', { events: [{ event: 'page_view', email, url, title: text, timestamp: daysAgo(1) }] })
  const message = { direction: 'inbound', from: { address: email, name: text }, to: [], text, sent_at: daysAgo(1) }
  const thread = { thread_key: text, subject: text, messages: [{ message_id: `${text}-1`, ...message }] }
  await make('/v1/sources/helpdesk/conversations', { records: [{ ...thread, contact: { external_id: text, email } }] })
  const filter = { match: 'all', conditions: [{ property: 'firstname', operator: 'equals', value: text }] }
  const segmentId: string = (await make('/v1/segments', { name: text, filter })).segment.segment_id
  // It is counted in the background, which changes the contact.
  await until(async () => {
    const { body } = await tenant.call('GET', `/v1/segments/${segmentId}`)
    if (body.segment.counting) throw new Error('The segment is still being counted.')
  })
  const settings = { enabled: true, capabilities: ['email', 'notes'], llm_config: { provider: 'template' } }
  const agentId: string = (await make('/v1/agents', { name: text, ...settings })).agent.agent_id
  const { ref } = await propose(tenant.handle, service.jobs, { contactId, agentId, ...MAIL })
  const hook = { event: 'page_view', url: `https://hooks.example.com/${text}` }
  const subscriptionId: string = (await make('/v1/webhooks', hook)).subscription_id
  const series = [{ label: text, where: [{ property: 'title', operator: 'equals', value: text }] }]
  const report = { name: text, kind: 'trend', question: { series, breakdown: ['title'] } }
  const reportId: string = (await make('/v1/reports', report)).report.report_id
  return { contactId, companyId, segmentId, agentId, runId: ref.runId, subscriptionId, reportId }
}

let segments = 0

/** A successful call of every tool. `decide_approval` needs a person. */
export function callsOf({ contactId, companyId, segmentId, agentId, runId, reportId }: Workspace): [string, object][] {
  const filter = { match: 'all', conditions: [{ event: { type: 'page_view', within_days: 7 }, operator: 'did' }] }
  return [
    ['describe_schema', {}],
    ['search_contacts', { filter }],
    ['get_contact', { contact_id: contactId, include_sources: true }],
    ['contact_timeline', { contact_id: contactId }],
    ['add_note', { contact_id: contactId, content: 'Wants a demo.' }],
    ['update_contact', { contact_id: contactId, properties: { plan: 'pro' } }],
    ['search_companies', { query: 'example' }],
    ['get_company', { company_id: companyId }],
    ['query_events', { event_type: 'page_view' }],
    ['aggregate', { entity: 'events', group_by: 'url_path' }],
    ['event_stats', { group_by: 'type' }],
    ['run_insight', { kind: 'trend', question: { series: [{ event: 'page_view' }] } }],
    ['insight_people', { kind: 'trend', question: { series: [{ event: 'page_view' }] }, at: { series: 'A' } }],
    ['list_reports', {}],
    ['list_alerts', {}],
    ['get_report', { report_id: reportId }],
    ['list_segments', {}],
    ['segment_members', { segment_id: segmentId }],
    ['preview_segment', { filter }],
    ['create_segment', { name: `Visited lately ${++segments}`, filter }],
    ['conversations', { contact_id: contactId, include_messages: true }],
    ['run_agent', { agent_id: agentId, contact_ids: [contactId] }],
    ['run_result', { run_id: runId }],
    ['list_approvals', {}],
    ['decide_approval', { run_id: runId, contact_id: contactId, action_index: 0, decision: 'approve' }],
    [
      'propose_action',
      {
        agent_id: agentId,
        contact_id: contactId,
        type: 'note',
        params: { content: 'Asked about pricing.' },
        reason: 'They asked.',
      },
    ],
    ['list_webhooks', {}],
  ]
}
