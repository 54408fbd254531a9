/** The default texts of messages, by event. */
const TEXTS: Readonly<Record<string, string>> = {
  page_view: '{{contact.name}} viewed {{event.title}} ({{event.domain}}{{event.path}})',
  page_leave: '{{contact.name}} left {{event.title}} ({{event.domain}}{{event.path}})',
  first_visit: '{{contact.name}} visited for the first time: {{event.title}} ({{event.domain}}{{event.path}})',
  button_click: '{{contact.name}} clicked the button “{{event.data.text}}” on {{event.domain}}{{event.path}}',
  link_click: '{{contact.name}} clicked the link “{{event.data.text}}” on {{event.domain}}{{event.path}}',
  form_submit: '{{contact.name}} sent the form {{event.data.formId}} on {{event.domain}}{{event.path}}',
  form_submission: '{{contact.name}} submitted the form {{event.data.form_id}}: {{contact.email}}',
  video_play: '{{contact.name}} started the video {{event.data.video_id}}',
  video_pause: '{{contact.name}} paused the video {{event.data.video_id}}',
  video_milestone: '{{contact.name}} watched {{event.data.percent}} % of the video {{event.data.video_id}}',
  video_complete: '{{contact.name}} watched the video {{event.data.video_id}} to the end',
  video_conversion: '{{contact.name}} entered an email address in the video {{event.data.video_id}}',
  email_received: '{{contact.name}} sent an email: {{event.data.subject}}',
  email_sent: 'An email was sent to {{contact.name}}: {{event.data.subject}}',
  chat_message_received: '{{contact.name}} sent a message: {{event.data.subject}}',
  chat_message_sent: 'A message was sent to {{contact.name}}: {{event.data.subject}}',
  contact_created: 'New contact: {{contact.name}}, {{contact.email}} (source: {{event.data.source}})',
  contact_updated: '{{contact.name}} changed: {{event.data.changed}} (source: {{event.data.source}})',
  contact_deleted: 'The contact {{contact.id}} was deleted',
  lifecycle_stage_changed: '{{contact.name}} moved from {{event.data.from}} to {{event.data.to}}',
  contact_identified: '{{contact.name}} was identified (source: {{event.data.source}})',
  segment_entered: '{{contact.name}} entered the segment {{event.data.segment_name}}: {{contact.email}}',
  segment_exited: '{{contact.name}} left the segment {{event.data.segment_name}}: {{contact.email}}',
  agent_action_proposed: 'An agent proposed an action for {{contact.name}}: {{event.data.type}}',
  agent_action_executed: "An agent's action for {{contact.name}} was executed: {{event.data.type}}",
  agent_action_failed: "An agent's action for {{contact.name}} failed: {{event.data.error.message}}",
}

/** The default template for an event, used if the subscription has no template. */
export function defaultText(event: string): string {
  return (
    (Object.hasOwn(TEXTS, event) ? TEXTS[event] : undefined) ?? '{{event.name}}: {{contact.name}}, {{contact.email}}'
  )
}
