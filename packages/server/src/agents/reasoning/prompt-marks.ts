import { ABOUT_CONTACT, bag, LABEL, personal, TEXT, WORD } from '../../platform/personal.ts'

const listOf = <Fields extends object>(properties: Fields) => ({ type: 'array', items: { type: 'object', properties } })
const text = { type: 'string', ...TEXT }
const word = { type: 'string', ...WORD }
const label = { type: 'string', ...LABEL }
const time = { type: 'string', format: 'date-time' }
const span = { count: { type: 'integer' }, first: time, last: time }

/** What the fields of a prompt's data say about people, for agents that hide it from their models. */
export const PROMPT_MARKS = {
  properties: {
    contact: {
      type: 'object',
      properties: {
        contact_id: { type: 'string', ...ABOUT_CONTACT },
        summary: text,
        properties: { type: 'object', ...bag('contact') },
        consent: { type: 'object', properties: { property: word, value: word, rule: word } },
      },
    },
    company: { type: 'object', ...bag('company') },
    events: {
      type: 'object',
      properties: {
        total: { type: 'integer' },
        first: time,
        last: time,
        by_type: listOf({ event: label, ...span }),
        pages: listOf({ path: text, title: text, ...span }),
        latest: listOf({ event: label, timestamp: time, url: text, title: text }),
      },
    },
    recent_actions: listOf({
      ...{ type: word, status: word, at: time, executed_at: time, agent: label, decided_by: word, replied_at: time },
      ...{ subject: text, text, text_before_edit: text, reason: text },
    }),
    // People are hidden in them already.
    lessons: {
      type: 'object',
      properties: {
        rejections: listOf({ type: word, at: time, proposed: text, reason: text }),
        edits: listOf({ type: word, at: time, proposed: text, approved: text }),
      },
    },
    conversations: listOf({
      ...{ channel: word, subject: text, last_message_at: time, message_count: { type: 'integer' } },
      messages: listOf({ direction: word, sent_at: time, text: { type: 'string', ...personal('free-text') } }),
    }),
    notes: listOf({ content: { type: 'string', ...personal('free-text') }, at: time }),
    unified_profile: {
      type: 'object',
      properties: {
        sources: { type: 'array', items: word },
        conflicts: { type: 'object', ...bag('contact') },
      },
    },
  },
}
