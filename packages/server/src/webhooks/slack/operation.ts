import Type from 'typebox'
import { EVENT_NAME_LENGTH_MAX } from '../../journal/event-record.ts'
import { operation } from '../../operations/declare.ts'
import { newId } from '../../platform/ids.ts'
import { TEXT } from '../../platform/personal.ts'
import { sampleContent } from '../catalogue.ts'
import { defaultText } from '../event-types.ts'
import { renderText } from './message.ts'
import { checkTemplate, TEMPLATE_LENGTH_MAX } from './template.ts'

export const EventName = Type.String({ minLength: 1, maxLength: EVENT_NAME_LENGTH_MAX, examples: ['page_view'] })
export const Template = Type.String({
  minLength: 1,
  maxLength: TEMPLATE_LENGTH_MAX,
  description:
    'The text of the message, with placeholders such as {{contact.email}}. Only for the format `slack`. Default: a default text for the event.',
  examples: ['{{contact.name}} entered {{event.data.segment_name}}'],
})

/** The operation that previews the message of a webhook. */
export const PREVIEW_OPERATION = operation({
  name: 'previewWebhookMessage',
  tag: 'Webhooks',
  http: 'GET /v1/webhooks/preview',
  command: 'webhook preview',
  scope: 'webhooks:read',
  summary: 'Preview the message that a webhook with the format slack sends for an event',
  description: 'The contact and the event are made up.',
  input: { event: EventName, template: Type.Optional(Template) },
  output: {
    template: Type.String({ description: 'The given template, or the default text for the event.', ...TEXT }),
    text: Type.String(TEXT),
  },
  example: { event: 'segment_entered', template: '{{contact.name}} entered {{event.data.segment_name}}' },
  async run({ tenant, now }, { event, template = defaultText(event) }) {
    checkTemplate(template)
    return { template, text: renderText(template, sampleContent(tenant.id, event, newId(), now)) }
  },
})
