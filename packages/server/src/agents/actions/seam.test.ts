import { expect, test } from 'vitest'
import { ACTION_PARAMS, ACTION_TYPES, type ActionType, checkActionParams } from '../action-types.ts'

/** All params that a model can set. Before adding one, make sure that no text can use it to choose a recipient. */
const FIELDS: Record<ActionType, string[]> = {
  email_message: ['message', 'subject'],
  social_message: ['message'],
  social_connect: ['message'],
  note: ['content'],
  crm_update: ['properties'],
}

const VALID: Record<ActionType, object> = {
  email_message: { subject: 'Hello', message: 'Hi' },
  social_message: { message: 'Hi' },
  social_connect: {},
  note: { content: 'x' },
  crm_update: { properties: { city: 'London' } },
}

const SMUGGLED = ['to', 'cc', 'bcc', 'from', 'reply_to', 'recipient', 'recipient_profile_url', 'email', 'address']
const OTHERS = [
  'identity_id',
  'identityId',
  'contact_id',
  'contactId',
  'type',
  'status',
  'headers',
  'attachments',
  'url',
]

test('the params of an action contain only its content', () => {
  const fields = ACTION_TYPES.map((type) => [type, Object.keys(ACTION_PARAMS[type].properties).sort()])
  expect(Object.fromEntries(fields)).toEqual(FIELDS)
})

test.each(ACTION_TYPES)('%s accepts no recipient, sender or transport options', (type) => {
  expect(checkActionParams(type, VALID[type])).toEqual([])
  for (const name of [...SMUGGLED, ...OTHERS, '__proto__', 'constructor']) {
    const params = JSON.parse(
      JSON.stringify(VALID[type]).replace(
        /\}$/,
        `${JSON.stringify(VALID[type]) === '{}' ? '' : ','}"${name}":"eve@example.com"}`,
      ),
    )
    expect(checkActionParams(type, params), name).not.toEqual([])
  }
})

test.each(['email', 'linkedin_url', 'social_profile_url', 'do_not_contact', 'unsubscribed', 'timezone'])(
  'an update cannot change a property that guardrails and senders read: %s',
  (key) => {
    for (const value of ['eve@example.com', true, null]) {
      expect(checkActionParams('crm_update', { properties: { [key]: value } })).toMatchObject([
        { path: `params.properties.${key}` },
      ])
    }
  },
)

test.each(['\r\nBcc: eve@example.com', 'a\nb', 'a\rb', '', 'x'.repeat(201), 'a\u0000b', '\ud800', 7, null])(
  'a subject cannot be %j',
  (subject) => {
    expect(checkActionParams('email_message', { subject, message: 'x' })).not.toEqual([])
  },
)
