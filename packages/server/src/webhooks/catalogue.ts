import { toEventObject } from '../events/event-object.ts'
import { EMPTY_RECORD, type EventRecord } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import { type Recipient, renderBody, toRow } from './payload.ts'
import type { WebhookEventType } from './schema.ts'
import type { Content } from './slack/message.ts'

const CONTACT = {
  _id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071',
  email: 'ada@example.com',
  firstname: 'Ada',
  lastname: 'Lovelace',
}
const COMPANY = { _id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6072', name: 'Example', domain: 'example.com' }
const AGENT_ACTION = {
  agent_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6075',
  run_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6074',
  action_index: 0,
  type: 'email_message',
  identity_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6076',
}
const REFUSED = { code: 'mail_refused', message: 'The mail server refused this mail: 550 no such user' }
const SEGMENT = { segment_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6073', segment_name: 'Trial users' }

const MESSAGE = {
  source: 'intercom',
  subject: 'Pricing',
  thread_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6075',
  message_id: 'message-1@example.com',
  direction: 'inbound',
  from: CONTACT.email,
  to: ['sales@ours.example'],
}
const ANSWER = { from: 'sales@ours.example', to: [CONTACT.email] }

interface CatalogueEntry {
  summary: string
  /** Whether the service records it about a tenant's data. */
  isSystem: boolean
  /** Whether it happens on a page of the tenant. */
  isOfPage: boolean
  /** An example of `data.data`. */
  data: Record<string, unknown>
}

const page = (summary: string, data: Record<string, unknown>): CatalogueEntry => ({
  summary,
  isSystem: false,
  isOfPage: true,
  data,
})
const own = (summary: string, data: Record<string, unknown>): CatalogueEntry => ({
  summary,
  isSystem: true,
  isOfPage: false,
  data,
})
const message = (summary: string, data: Record<string, unknown>): CatalogueEntry => ({
  summary,
  isSystem: false,
  isOfPage: false,
  data: { ...MESSAGE, ...data },
})

const ENTRIES: Record<string, CatalogueEntry> = {
  page_view: page('A page was viewed', { title: 'Pricing', path: '/pricing', load_time: 420 }),
  page_leave: page('A page was left', { title: 'Pricing', path: '/pricing', time_on_page: 37 }),
  first_visit: page('A browser was seen for the first time', { title: 'Pricing', path: '/pricing' }),
  button_click: page('A button was clicked', { text: 'Start free trial', class: 'btn primary', id: 'start-trial' }),
  link_click: page('A link was clicked', { text: 'Docs', href: 'https://www.example.com/docs', internal: true }),
  form_submit: page('A form on a page was submitted', { formId: 'contact', action: '/contact', method: 'post' }),
  form_submission: page('The service received a form', { form_id: 'contact', fields: ['email', 'firstName'] }),
  video_play: page('A video was started', { video_id: 'tour', position: 0 }),
  video_pause: page('A video was paused', { video_id: 'tour', position: 12 }),
  video_milestone: page('A quarter of a video was watched', { video_id: 'tour', percent: 50 }),
  video_complete: page('A video was watched to the end', { video_id: 'tour' }),
  video_conversion: page('An email address was entered in a video', { video_id: 'tour' }),
  email_received: message('A contact sent an email', { source: 'email', direction: 'inbound' }),
  email_sent: message('An email was sent to a contact', { source: 'email', direction: 'outbound', ...ANSWER }),
  chat_message_received: message('A contact sent a message in a messaging tool', { direction: 'inbound' }),
  chat_message_sent: message('A message was sent to a contact in a messaging tool', {
    direction: 'outbound',
    ...ANSWER,
  }),
  contact_created: own('A contact was created', { properties: { email: CONTACT.email }, source: 'form' }),
  contact_updated: own('A contact was changed', {
    changed: ['city'],
    properties: { city: 'London' },
    source: 'manual',
  }),
  contact_deleted: own('A contact was deleted', {}),
  lifecycle_stage_changed: own("A contact's stage changed", { from: 'lead', to: 'customer', source: 'manual' }),
  contact_identified: own('Visitors became a contact', { visitor_ids: ['visitor-1'], source: 'identify' }),
  segment_entered: own('A contact entered a segment', SEGMENT),
  segment_exited: own('A contact left a segment', SEGMENT),
  agent_action_proposed: own('An agent proposed an action', { ...AGENT_ACTION, status: 'pending_approval' }),
  agent_action_executed: own("An agent's action was executed", { ...AGENT_ACTION, status: 'executed' }),
  agent_action_failed: own("An agent's action failed", { ...AGENT_ACTION, status: 'failed', error: REFUSED }),
}

/** The known event types. A tenant can also subscribe to any other name that it records. */
export function eventCatalogue(tenantId: string, now: Date): WebhookEventType[] {
  return Object.entries(ENTRIES).map(([event, { summary, isSystem }]) => ({
    event,
    summary,
    is_system: isSystem,
    sample: JSON.parse(samplePayload(tenantId, { ...PLAIN, subscriptionId: newId() }, event, newId(), now)),
  }))
}

/** Whether only the service records events of this name. */
export function isSystemEvent(event: string): boolean {
  return Object.hasOwn(ENTRIES, event) && ENTRIES[event]?.isSystem === true
}

const PLAIN = { format: 'json', template: null } as const

/** A body for an event that did not happen, marked by `data.data.test` if it is JSON. */
export function samplePayload(
  tenantId: string,
  recipient: Recipient,
  event: string,
  eventId: string,
  now: Date,
): string {
  return renderBody(tenantId, recipient, sampleContent(tenantId, event, eventId, now))
}

/** A sample event of a made-up contact. */
export function sampleContent(tenantId: string, event: string, eventId: string, now: Date): Content {
  const known = Object.hasOwn(ENTRIES, event) ? ENTRIES[event] : undefined
  const at = now.getTime()
  const common = { ...EMPTY_RECORD, tenant_id: tenantId, event_id: eventId, event, timestamp: at, received_at: at }
  const data = JSON.stringify({ ...known?.data, test: true })
  const record: EventRecord = known?.isSystem
    ? { ...common, is_system: true, owner_id: CONTACT._id, is_anonymous: false, data }
    : { ...common, ...(known?.isOfPage === false ? {} : PAGE), owner_id: CONTACT._id, is_anonymous: false, data }
  return {
    event: { ...toEventObject(toRow(record), CONTACT._id), contact: CONTACT, company: COMPANY },
    title: record.title,
    path: record.url_path,
    properties: { firstname: CONTACT.firstname, lastname: CONTACT.lastname, company: COMPANY.name },
  }
}

const PAGE = {
  visitor_id: 'visitor-1',
  session_id: 'session-1',
  url: 'https://www.example.com/pricing',
  url_path: '/pricing',
  domain: 'www.example.com',
  title: 'Pricing',
  referrer: 'https://www.google.com/',
  referring_domain: 'google.com',
  browser: 'Chrome',
  os: 'macOS',
  device_type: 'desktop',
  screen: '1920x1080',
}
