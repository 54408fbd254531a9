import type { SystemEventName } from '../journal/event-record.ts'

/** The contact of the examples. */
export const EXAMPLE_CONTACT = {
  _id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071',
  email: 'ada@example.com',
  firstname: 'Ada',
  lastname: 'Lovelace',
}
const AGENT_ACTION = {
  agent_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6075',
  run_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6074',
  action_index: 0,
  type: 'email_message',
  identity_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6076',
}
const REFUSED = { code: 'mail_refused', message: 'The mail server refused this mail: 550 no such user' }
const SEGMENT = { segment_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6073', segment_name: 'Trial users' }

const ALERT = {
  alert_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6078',
  name: 'Few sign-ups',
  report_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6079',
  report_name: 'Sign-ups by day',
  interval: '2026-10-25',
  value: 7,
  compared: null,
  operator: 'below',
  limit: 10,
  percent: false,
  sample: null,
  message: 'Sign-ups by day: 7 in 2026-10-25, below 10.',
}

const MESSAGE = {
  source: 'intercom',
  subject: 'Pricing',
  thread_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6075',
  message_id: 'message-1@example.com',
  direction: 'inbound',
  from: EXAMPLE_CONTACT.email,
  to: ['sales@ours.example'],
}
const TO_CONTACT = { from: 'sales@ours.example', to: [EXAMPLE_CONTACT.email] }

interface EventType {
  summary: string
  /** The default text of a message about it. */
  text: string
  /** An example of `data.data`. */
  data: Record<string, unknown>
  /** Whether it is about no contact. */
  ofNobody?: true
}

/** What happens on the pages of a tenant. */
const OF_PAGES = {
  page_view: {
    summary: 'A page was viewed',
    text: '{{contact.name}} viewed {{event.title}} ({{event.domain}}{{event.path}})',
    data: { title: 'Pricing', path: '/pricing', load_time: 420 },
  },
  page_leave: {
    summary: 'A page was left',
    text: '{{contact.name}} left {{event.title}} ({{event.domain}}{{event.path}})',
    data: { title: 'Pricing', path: '/pricing', time_on_page: 37 },
  },
  first_visit: {
    summary: 'A browser was seen for the first time',
    text: '{{contact.name}} visited for the first time: {{event.title}} ({{event.domain}}{{event.path}})',
    data: { title: 'Pricing', path: '/pricing' },
  },
  button_click: {
    summary: 'A button was clicked',
    text: '{{contact.name}} clicked the button “{{event.data.text}}” on {{event.domain}}{{event.path}}',
    data: { text: 'Start free trial', class: 'btn primary', id: 'start-trial' },
  },
  link_click: {
    summary: 'A link was clicked',
    text: '{{contact.name}} clicked the link “{{event.data.text}}” on {{event.domain}}{{event.path}}',
    data: { text: 'Docs', href: 'https://www.example.com/docs', internal: true },
  },
  form_submit: {
    summary: 'A form on a page was submitted',
    text: '{{contact.name}} submitted the form {{event.data.formId}} on {{event.domain}}{{event.path}}',
    data: { formId: 'contact', action: '/contact', method: 'post' },
  },
  form_submission: {
    summary: 'The service received a form',
    text: '{{contact.name}} submitted the form {{event.data.form_id}}: {{contact.email}}',
    data: { form_id: 'contact', fields: ['email', 'firstName'] },
  },
  video_play: {
    summary: 'A video was started',
    text: '{{contact.name}} started the video {{event.data.video_id}}',
    data: { video_id: 'tour', position: 0 },
  },
  video_pause: {
    summary: 'A video was paused',
    text: '{{contact.name}} paused the video {{event.data.video_id}}',
    data: { video_id: 'tour', position: 12 },
  },
  video_milestone: {
    summary: 'A quarter of a video was watched',
    text: '{{contact.name}} watched {{event.data.percent}}% of the video {{event.data.video_id}}',
    data: { video_id: 'tour', percent: 50 },
  },
  video_complete: {
    summary: 'A video was watched to the end',
    text: '{{contact.name}} watched the video {{event.data.video_id}} to the end',
    data: { video_id: 'tour' },
  },
  video_conversion: {
    summary: 'An email address was entered in a video',
    text: '{{contact.name}} entered an email address in the video {{event.data.video_id}}',
    data: { video_id: 'tour' },
  },
} satisfies Record<string, EventType>

const OF_CONVERSATIONS = {
  email_received: {
    summary: 'A contact sent an email',
    text: '{{contact.name}} sent an email: {{event.data.subject}}',
    data: { ...MESSAGE, source: 'email', direction: 'inbound' },
  },
  email_sent: {
    summary: 'An email was sent to a contact',
    text: 'An email was sent to {{contact.name}}: {{event.data.subject}}',
    data: { ...MESSAGE, source: 'email', direction: 'outbound', ...TO_CONTACT },
  },
  chat_message_received: {
    summary: 'A contact sent a message in a messaging tool',
    text: '{{contact.name}} sent a message: {{event.data.subject}}',
    data: { ...MESSAGE, direction: 'inbound' },
  },
  chat_message_sent: {
    summary: 'A message was sent to a contact in a messaging tool',
    text: 'A message was sent to {{contact.name}}: {{event.data.subject}}',
    data: { ...MESSAGE, direction: 'outbound', ...TO_CONTACT },
  },
} satisfies Record<string, EventType>

/** What the service records about a tenant's data. */
const OF_SYSTEM: Record<SystemEventName, EventType> = {
  contact_created: {
    summary: 'A contact was created',
    text: 'New contact: {{contact.name}}, {{contact.email}} (source: {{event.data.source}})',
    data: { properties: { email: EXAMPLE_CONTACT.email }, source: 'form' },
  },
  contact_updated: {
    summary: 'A contact was changed',
    text: '{{contact.name}} changed: {{event.data.changed}} (source: {{event.data.source}})',
    data: {
      changed: ['city'],
      properties: { city: 'London' },
      source: 'manual',
    },
  },
  contact_deleted: {
    summary: 'A contact was deleted',
    text: 'The contact {{contact.id}} was deleted',
    data: {},
  },
  lifecycle_stage_changed: {
    summary: "A contact's stage changed",
    text: '{{contact.name}} moved from {{event.data.from}} to {{event.data.to}}',
    data: { from: 'lead', to: 'customer', source: 'manual' },
  },
  contact_identified: {
    summary: 'Visitors were identified',
    text: '{{contact.name}} was identified (source: {{event.data.source}})',
    data: { visitor_ids: ['visitor-1'], source: 'identify' },
  },
  segment_entered: {
    summary: 'A contact entered a segment',
    text: '{{contact.name}} entered the segment {{event.data.segment_name}}: {{contact.email}}',
    data: SEGMENT,
  },
  segment_exited: {
    summary: 'A contact left a segment',
    text: '{{contact.name}} left the segment {{event.data.segment_name}}: {{contact.email}}',
    data: SEGMENT,
  },
  agent_action_proposed: {
    summary: 'An agent proposed an action',
    text: 'An agent proposed an action for {{contact.name}}: {{event.data.type}}',
    data: { ...AGENT_ACTION, status: 'pending_approval' },
  },
  agent_action_executed: {
    summary: "An agent's action was executed",
    text: "An agent's action for {{contact.name}} was executed: {{event.data.type}}",
    data: { ...AGENT_ACTION, status: 'executed' },
  },
  agent_action_failed: {
    summary: "An agent's action failed",
    text: "An agent's action for {{contact.name}} failed: {{event.data.error.message}}",
    data: { ...AGENT_ACTION, status: 'failed', error: REFUSED },
  },
  alert_triggered: {
    summary: 'An alert fired: a number of a report is above, below or changed by more than a limit',
    text: 'The alert {{event.data.name}} fired. {{event.data.message}}',
    data: ALERT,
    ofNobody: true,
  },
}

/** The known event types. A tenant can also subscribe to any other name that it records. */
export const EVENT_TYPES: Readonly<Record<string, EventType>> = { ...OF_PAGES, ...OF_CONVERSATIONS, ...OF_SYSTEM }

/** Whether only the service records events of this name. */
export function isSystemEvent(event: string): boolean {
  return Object.hasOwn(OF_SYSTEM, event)
}

/** Whether events of this name do not happen on a page. */
export function isOutsidePages(event: string): boolean {
  return isSystemEvent(event) || Object.hasOwn(OF_CONVERSATIONS, event)
}

export function findEventType(event: string): EventType | undefined {
  return Object.hasOwn(EVENT_TYPES, event) ? EVENT_TYPES[event] : undefined
}

/** The default template for an event, used if the subscription has no template. */
export function defaultText(event: string): string {
  return findEventType(event)?.text ?? '{{event.name}}: {{contact.name}}, {{contact.email}}'
}
