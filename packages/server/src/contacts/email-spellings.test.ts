import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createHook, send } from '../../test/hooks.ts'
import { importWithCommand } from '../../test/imports.ts'
import { CHROME, call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { createSource } from '../../test/sources.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const STORED = 'kim@xn--bcher-kva.example'
const SPELLINGS = [
  'kim@b\u00fccher.example',
  'kim@bu\u0308cher.example',
  'Kim@BÜCHER.Example',
  '\u200bkim@xn--bcher-kva.example',
  'ki\u00adm@bücher。example\ufeff',
  'kim@ｂücher.example.',
]

const post = async (path: string, body: object) => {
  const response = await tenant.call('POST', path, body)
  expect([response.status, response.body.error]).toEqual([expect.toBeOneOf([200, 201]), undefined])
  return response.body
}

async function imported(email: string): Promise<void> {
  const summary = await importWithCommand(service, tenant, `email,city\n"${email}",Bonn\n`)
  expect(summary).toMatchObject({ created: 0, updated: 1, failed: 0 })
}

/** Each names a person by an address. */
const DOORS: Record<string, (email: string) => Promise<unknown>> = {
  'POST /v1/identify': (email) => post('/v1/identify', { email, visitor_id: 'v', properties: { city: 'Bonn' } }),
  'a connected source': (email) =>
    post('/v1/sources/crm/contacts', { records: [{ external_id: '1', email, properties: { city: 'Bonn' } }] }),
  'the traits of a page': async (email) => {
    const identify = { traits: { email, city: 'Bonn' } }
    expect((await tenant.track({ visitor_id: 'v', events: [], identify })).body).not.toHaveProperty('warnings')
  },
  'a form': (email) =>
    call(service, 'POST', `/v1/public/form-submission/${tenant.id}/contact-us`, {
      headers: { origin: `https://${tenant.site}`, 'user-agent': CHROME },
      body: JSON.stringify({ contact_data: { email, city: 'Bonn' } }),
    }),
  'an SDK': async (email) => {
    const key = await createSource(tenant, 'server')
    const headers = { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` }
    const body = JSON.stringify({ userId: 'u1', traits: { email, city: 'Bonn' } })
    expect((await call(service, 'POST', '/v1/identify', { headers, body })).status).toBe(200)
  },
  'a hook': async (email) => {
    const hook = await createHook(tenant, { mapping: { contact: { email: { path: 'email' } } } })
    expect((await send(service, hook, { email })).body).toMatchObject({ state: 'recorded' })
  },
  'POST /v1/events': (email) => post('/v1/events', { events: [{ event: 'seen', email }] }),
  'a CSV file': imported,
  'a conversation': (email) =>
    post('/v1/sources/helpdesk/conversations', {
      records: [
        {
          thread_key: 't',
          contact: { email },
          messages: [
            { message_id: email, direction: 'inbound', from: { name: 'K' }, sent_at: '2026-01-31', text: 'x' },
          ],
        },
      ],
    }),
}

describe.each(Object.entries(DOORS))('%s', (_, enter) => {
  test.each(SPELLINGS)('finds the contact of %j', async (email) => {
    const contactId = await tenant.contact(STORED, { firstname: 'Kim' })
    await enter(email)
    const { contacts } = (await tenant.call('GET', '/v1/contacts')).body
    expect(contacts).toMatchObject([{ contact_id: contactId, properties: { email: STORED, firstname: 'Kim' } }])
  })
})

test.each(SPELLINGS)('POST /v1/contacts stores %j in one spelling, and knows that it is taken', async (email) => {
  const { contact } = await post('/v1/contacts', { email, properties: { email } })
  expect(contact.properties.email).toBe(STORED)
  const again = await tenant.call('POST', '/v1/contacts', { email: STORED })
  expect([again.status, again.body.error.code]).toEqual([409, 'contact_email_taken'])
  const other = await tenant.contact('ann@example.com')
  const put = await tenant.call('PUT', `/v1/contacts/${other}`, { properties: { email } })
  expect([put.status, put.body.error.code]).toEqual([409, 'contact_email_taken'])
})

test.each([
  ['/v1/identify', (email: string, same: string) => ({ email, properties: { email: same } })],
  [
    '/v1/sources/crm/contacts',
    (email: string, same: string) => ({ records: [{ external_id: '1', email, properties: { email: same } }] }),
  ],
] as const)('%s accepts properties.email in another spelling', async (path, bodyOf) => {
  await post(path, bodyOf(SPELLINGS[1] ?? '', SPELLINGS[2] ?? ''))
  const { contacts } = (await tenant.call('GET', '/v1/contacts')).body
  expect(contacts).toMatchObject([{ properties: { email: STORED } }])
})

test('Greek capitals and a final sigma make no second contact, and searches agree', async () => {
  const spellings = ['νικος@example.gr', 'ΝΙΚΟΣ@example.gr', 'νικοσ@example.gr']
  const contactId = await tenant.contact('ΝΙΚΟΣ@EXAMPLE.gr')
  await tenant.contact('ann@example.com')
  for (const email of spellings) {
    const { contact_id, created } = await post('/v1/identify', { email })
    expect([email, contact_id, created]).toEqual([email, contactId, false])
    const identify = { traits: { email, city: email } }
    expect((await tenant.track({ visitor_id: email, events: [], identify })).body).not.toHaveProperty('warnings')
  }
  for (const search of [...spellings, 'νικος', 'ΝΙΚΟΣ@', 'ος@exam']) {
    const conditions = [{ property: 'email', operator: 'contains', value: search }]
    const filters: Record<string, string>[] = [{ search }, { filter: JSON.stringify({ match: 'all', conditions }) }]
    const exact = [{ property: 'email', operator: 'equals', value: search }]
    if (spellings.includes(search)) {
      filters.push({ filter: JSON.stringify({ match: 'all', conditions: exact }) })
    }
    for (const query of filters) {
      const { contacts } = (await tenant.call('GET', `/v1/contacts?${new URLSearchParams(query)}`)).body
      expect([query, contacts.map((each: { contact_id: string }) => each.contact_id)]).toEqual([query, [contactId]])
    }
  }
  await post('/v1/suppressions', { address: spellings[0], details: null })
  for (const spelling of spellings) {
    const { status } = await tenant.call('GET', `/v1/suppressions/${encodeURIComponent(spelling)}`)
    expect([spelling, status]).toEqual([spelling, 200])
  }
})

test('an invisible character makes no second contact', async () => {
  const email = '\u200bann@example.com'
  expect((await post('/v1/contacts', { email })).contact.properties.email).toBe('ann@example.com')
  expect((await tenant.call('POST', '/v1/contacts', { email: 'ann@example.com' })).status).toBe(409)
})

test.each(['kim@xn--a.example', 'kim@xn--example-.example', 'kim@bücher', 'kim@bücher.example/x'])(
  '%j is malformed',
  async (email) => {
    const { status, body } = await tenant.call('POST', '/v1/contacts', { email })
    expect([status, body.error.details]).toEqual([400, [expect.objectContaining({ path: 'email' })]])
  },
)

describe('the contact is found', () => {
  const found = async (query: Record<string, string>) =>
    (await tenant.call('GET', `/v1/contacts?${new URLSearchParams(query)}`)).body.contacts

  test.each([...SPELLINGS, STORED, 'bücher', 'kim@bü', 'cher.exam', 'xn--bcher', 'bücher kim'])(
    'by a search for %j',
    async (search) => {
      await tenant.contact(STORED)
      await tenant.contact('ann@example.com')
      expect(await found({ search })).toMatchObject([{ properties: { email: STORED } }])
    },
  )

  test.each([
    ['equals', SPELLINGS[0]],
    ['equals', SPELLINGS[4]],
    ['in', [SPELLINGS[1], 'x@example.com']],
    ['contains', 'bücher'],
    ['contains', 'kim@bücher'],
    ['contains', SPELLINGS[4]],
  ])('by the condition %s %j', async (operator, value) => {
    await tenant.contact(STORED)
    await tenant.contact('ann@example.com')
    const filter = JSON.stringify({ match: 'all', conditions: [{ property: 'email', operator, value }] })
    expect(await found({ filter })).toMatchObject([{ properties: { email: STORED } }])
  })
})

test.each(SPELLINGS)('the suppression list knows %j in every spelling', async (address) => {
  const { suppression } = await post('/v1/suppressions', { address, details: null })
  expect(suppression.address).toBe(STORED)
  for (const spelling of [...SPELLINGS, STORED]) {
    const { status } = await tenant.call('GET', `/v1/suppressions/${encodeURIComponent(spelling)}`)
    expect(status).toBe(200)
  }
  const removed = await tenant.call('DELETE', `/v1/suppressions/${encodeURIComponent(SPELLINGS[1] ?? '')}`)
  expect(removed.status).toBe(200)
  expect((await tenant.call('GET', `/v1/suppressions/${encodeURIComponent(address)}`)).status).toBe(404)
})

test('an erasure removes what mentions the address in its own letters too', async () => {
  const contactId = await tenant.contact(STORED)
  const url = `https://${tenant.site}/welcome?mail=`
  const sent = ['kim@bücher.example', encodeURIComponent('kim@bücher.example'), STORED, 'ann@example.com']
  await tenant.track({ visitor_id: 'other', events: sent.map((email) => ({ event: 'seen', url: url + email })) })
  await tenant.call('POST', '/v1/erasures', { contact_id: contactId })
  await expect
    .poll(
      async () => {
        const { events } = (await tenant.call('GET', '/v1/events?event_type=seen')).body
        return events.map((event: { url: string }) => event.url)
      },
      { timeout: 60_000 },
    )
    .toEqual([`${url}ann@example.com`])
})
