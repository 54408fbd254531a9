import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createHook, send } from '../../test/hooks.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { createSource } from '../../test/sources.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const read = async (path: string) => (await tenant.call('GET', path)).body

test.each([
  [{ has_opted_out_of_email: true }, { property: 'has_opted_out_of_email', value: true, rule: 'unsubscribed' }],
  [
    { doNotContact: 'yes', bounced: true },
    { property: 'doNotContact', value: 'yes', rule: 'unsubscribed' },
  ],
  [{ 'Email Suppressions': 'HARD_BOUNCE' }, { property: 'Email Suppressions', value: 'HARD_BOUNCE', rule: 'bounced' }],
  [{ unsubscribed: false, accepts_marketing: true, do_not_call: true }, null],
  [{ 'preferences.unsubscribed': 1 }, { property: 'preferences.unsubscribed', value: 1, rule: 'unsubscribed' }],
  [{ $consent: 'UNSUBSCRIBED' }, { property: '$consent', value: 'UNSUBSCRIBED', rule: 'unsubscribed' }],
  [{ subscribed_plan: 'no', blocked_by_manager: true, consent_text: 'no', bounce_rate: 0.3 }, null],
])('a contact with %j shows what decides that it is not written to', async (properties, consent) => {
  const { body } = await tenant.call('POST', '/v1/contacts', { email: 'o@acme.example', properties })
  expect(body.contact.consent).toEqual(consent)
  const { contact_id } = body.contact
  expect((await read(`/v1/contacts/${contact_id}`)).contact.consent).toEqual(consent)
  expect((await read('/v1/contacts')).contacts[0].consent).toEqual(consent)
  const details = { entity_type: 'contacts', ids: [contact_id] }
  expect((await tenant.call('POST', '/v1/batch/details', details)).body.contacts[0].consent).toEqual(consent)
  const changed = await tenant.call('PUT', `/v1/contacts/${contact_id}`, { properties: { unsubscribed: '2026-01-31' } })
  expect(changed.body.contact.consent).toMatchObject({ rule: 'unsubscribed' })
})

test('consent is a field of its own in projections, and in files', async () => {
  const contactId = await tenant.contact('o@acme.example', { firstname: 'O', hs_email_optout: 'true' })
  const consent = { property: 'hs_email_optout', value: 'true', rule: 'unsubscribed' }
  expect((await read('/v1/contacts?fields=consent')).contacts).toEqual([
    { contact_id: contactId, _id: contactId, consent },
  ])
  expect((await read('/v1/contacts?fields=summary')).contacts[0]).not.toHaveProperty('consent')
  const { body } = await tenant.call('GET', '/v1/contacts/export.csv?columns=email,consent')
  expect(body.replace('\ufeff', '').trim().split(/\r?\n/)).toEqual(['email,consent', 'o@acme.example,hs_email_optout'])
})

test('a merge never loses an opt-out, under whatever names the two contacts have it', async () => {
  const survivor = await tenant.contact('a@acme.example', { accepts_marketing: true, unsubscribed: false })
  const other = await tenant.contact('b@acme.example', { accepts_marketing: 'no', has_opted_out_of_email: '1' })
  await tenant.call('POST', `/v1/contacts/${other}/merge`, { into: survivor })
  const { contact } = await read(`/v1/contacts/${survivor}`)
  expect(contact.properties).toMatchObject({ accepts_marketing: 'no', has_opted_out_of_email: '1' })
  expect(contact.consent).toMatchObject({ rule: 'unsubscribed' })
  await tenant.call('POST', `/v1/contacts/${other}/unmerge`)
  expect((await read(`/v1/contacts/${survivor}`)).contact.consent).toBeNull()
})

test('an opt-out of any system is stored on a full contact', async () => {
  const keys = Object.fromEntries(Array.from({ length: 499 }, (_, at) => [`k${at}`, at]))
  const contactId = await tenant.contact('o@acme.example', keys)
  const put = (properties: object) => tenant.call('PUT', `/v1/contacts/${contactId}`, { properties })
  expect((await put({ HasOptedOutOfEmail: 'true', hs_email_optout: true, unsubscribed_at: '2026-01-31' })).status).toBe(
    200,
  )
  expect((await put({ k500: 1 })).status).toBe(400)
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`hs_email_optout_${at}`, true]))
  expect((await put(many)).status).toBe(400)
})

test('a nested trait of an SDK silences a contact', async () => {
  const writeKey = await createSource(tenant, 'server')
  const traits = { email: 'o@acme.example', custom: { do_not_contact: true } }
  const body = JSON.stringify({ userId: 'u1', traits, writeKey })
  expect((await call(service, 'POST', '/v1/identify', { body })).status).toBe(200)
  const { contacts } = await read('/v1/contacts?fields=consent')
  expect(contacts[0].consent).toEqual({ property: 'custom.do_not_contact', value: true, rule: 'unsubscribed' })
})

test('a hook and a connected source silence a contact in their own words', async () => {
  const mapping = {
    contact: { email: { path: 'email' }, properties: { email_marketing_consent: { path: 'consent.state' } } },
  }
  const hook = await createHook(tenant, { kind: 'custom', mapping })
  const body = JSON.stringify({ email: 'o@acme.example', consent: { state: 'not_subscribed' } })
  expect((await send(service, hook, body)).body.state).toBe('recorded')
  const records = [{ external_id: '1', email: 'p@acme.example', properties: { EMAIL_BLACKLIST: 'Yes' } }]
  await tenant.call('POST', '/v1/sources/brevo/contacts', { records })
  const { contacts } = await read('/v1/contacts?fields=consent&sort_by=email&sort_dir=asc')
  expect(contacts.map(({ consent }: { consent: { property: string } }) => consent.property)).toEqual([
    'email_marketing_consent',
    'EMAIL_BLACKLIST',
  ])
})
