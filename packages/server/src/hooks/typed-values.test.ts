import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createHook, send, type TestHook } from '../../test/hooks.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

const SECRET = 'the-secret-of-the-sender'
const MAPPING = {
  contact: {
    email: { path: 'email' },
    user_id: { path: 'user' },
    properties: {
      firstname: { path: 'name' },
      phone: { path: 'phone' },
      unsubscribed: { path: 'unsubscribed' },
      lifecyclestage: { path: 'stage' },
    },
  },
  company: { domain: { path: 'domain' }, name: { path: 'company' }, properties: { industry: { path: 'industry' } } },
}

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})

const hmac = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex')
const timed = (text: string) => {
  const at = Math.floor(Date.now() / 1000)
  return `t=${at},v1=${hmac(`${at}.${text}`)}`
}
const SIGNATURES: Record<string, (text: string) => Record<string, string>> = {
  stripe: (text) => ({ 'stripe-signature': timed(text) }),
  calendly: (text) => ({ 'calendly-webhook-signature': timed(text) }),
  typeform: (text) => ({ 'typeform-signature': `sha256=${hmac(text)}` }),
  'cal.com': (text) => ({ 'x-cal-signature-256': hmac(text) }),
}

async function hookOf(kind: string): Promise<(body: object) => Promise<void>> {
  tenant = await createTestTenant(service)
  const signed = kind === 'custom' ? {} : { signing_secret: SECRET }
  const hook: TestHook = await createHook(tenant, { kind, mapping: MAPPING, ...signed })
  return async (body) => {
    const text = JSON.stringify(body)
    const sent = await send(service, hook, text, SIGNATURES[kind]?.(text))
    expect([sent.status, sent.body.state, sent.body.error]).toEqual([200, 'recorded', null])
  }
}

async function contactOf(email: string) {
  return (await tenant.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`)).body.contacts[0]
}

const email = 'victim@example.com'
const KNOWN = { firstname: 'Vera', lifecyclestage: 'customer' }
const TYPED = {
  email,
  name: 'Mallory',
  phone: '+44 1',
  unsubscribed: true,
  stage: 'lead',
  domain: 'victim.example',
  company: 'Mallory Ltd',
  industry: 'Crime',
}

/** The contact and the company as a person knows them. */
async function createKnown(): Promise<void> {
  const contact = await tenant.call('POST', '/v1/contacts', { email, properties: KNOWN })
  const company = await tenant.call('POST', '/v1/companies', { domain: TYPED.domain, name: 'Victim & Sons' })
  expect([contact.status, company.status]).toEqual([201, 201])
}

describe.each(['calendly', 'typeform', 'cal.com'])('what anyone typed into %s', (kind) => {
  test('fills blanks, and replaces only what was typed before', async () => {
    const sendBody = await hookOf(kind)
    await createKnown()
    await sendBody(TYPED)
    await sendBody({ ...TYPED, phone: '+44 2', industry: 'Fraud' })
    const contact = await contactOf(email)
    expect(contact.properties).toMatchObject({ ...KNOWN, phone: '+44 2' })
    expect(contact.properties).not.toHaveProperty('unsubscribed')
    const { company } = (await tenant.call('GET', `/v1/companies/${contact.company_id}`)).body
    expect([company.name, company.properties]).toEqual(['Victim & Sons', { industry: 'Fraud' }])
    // The tenant's own systems replace it.
    await tenant.call('POST', '/v1/sources/hubspot/contacts', {
      records: [{ external_id: '1', email, properties: { phone: '+44 3' } }],
    })
    await sendBody(TYPED)
    expect((await contactOf(email)).properties.phone).toBe('+44 3')
    const { sources } = (await tenant.call('GET', '/v1/sources')).body
    expect(sources.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['crm', 'form'])
  })

  test("claims one of the tenant's own ids until a server names its person", async () => {
    const sendBody = await hookOf(kind)
    await sendBody({ user: 'u-1', email: 'mallory@example.com' })
    const identify = async (input: object) => (await tenant.call('POST', '/v1/identify', input)).body.contact_id
    const victim = await identify({ user_id: 'u-1', email })
    expect(await identify({ user_id: 'u-1' })).toBe(victim)
    expect((await contactOf('mallory@example.com')).contact_id).not.toBe(victim)
  })
})

test.each(Object.keys(SIGNATURES))('%s names a person, even if pages must sign identifications', async (kind) => {
  const sendBody = await hookOf(kind)
  const required = await tenant.call('PATCH', '/v1/tenant', { require_signed_identification: true })
  expect(required.body.tenant.require_signed_identification).toBe(true)
  await sendBody({ user: 'u-1', email })
  expect(await contactOf(email)).toBeDefined()
})

test.each(['stripe', 'custom'])('what the tenant’s own system sends through a hook (%s) is verified', async (kind) => {
  const sendBody = await hookOf(kind)
  await createKnown()
  await sendBody(TYPED)
  const contact = await contactOf(email)
  expect(contact.properties).toMatchObject({ firstname: 'Mallory', unsubscribed: true, lifecyclestage: 'lead' })
  const { company } = (await tenant.call('GET', `/v1/companies/${contact.company_id}`)).body
  expect(company.name).toBe('Mallory Ltd')
})
