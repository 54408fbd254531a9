import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  CHROME,
  call,
  createTestTenant,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../test/service.ts'
import { DAY_MS } from '../platform/time.ts'

/** Identifications that a page sends with a hash from the tenant's server (decision 3.10). */
let service: TestService
let tenant: TestTenant
let secret: string
let now = new Date()

beforeAll(async () => {
  service = await startTestService({}, { clock: () => now })
})
afterAll(() => service.close())
beforeEach(async () => {
  tenant = await createTestTenant(service)
  secret = await rotate()
})

async function rotate(): Promise<string> {
  const response = await tenant.call('POST', '/v1/tenant/identity-secret')
  expect(response.status).toBe(201)
  return response.body.identity_secret
}

/** Takes effect with the response, despite this process's cache. */
async function require(isRequired: boolean): Promise<void> {
  const response = await tenant.call('PATCH', '/v1/tenant', { require_signed_identification: isRequired })
  expect(response.body.tenant.require_signed_identification).toBe(isRequired)
}

const hash = (text: string, key = secret) => createHmac('sha256', key).update(text).digest('hex')

/** @returns the warnings. */
async function claim(identify: object, user_hash?: unknown, more: object = {}): Promise<string> {
  const response = await tenant.track({ visitor_id: 'v', events: [], identify, user_hash, ...more })
  expect(response.status).toBe(200)
  return (response.body.warnings ?? []).join('\n')
}

const contacts = async () => (await tenant.call('GET', '/v1/contacts?sort_dir=asc')).body.contacts
const contactOf = async (id: string) => (await tenant.call('GET', `/v1/contacts/${id}?include=provenance`)).body.contact
const visitorsContact = async (visitor = 'v') => {
  const { body } = await tenant.track({ visitor_id: visitor, events: [{ event: 'seen' }] })
  expect(body.accepted).toBe(1)
  const { body: list } = await tenant.call('GET', `/v1/events?visitor_id=${visitor}&event_type=seen&limit=1`)
  return list.events[0].internal_contact_id
}
const identify = async (body: object) => (await tenant.call('POST', '/v1/identify', body)).body.contact_id

describe('a signed identification', () => {
  test('makes identify a source of the email that it verifies', async () => {
    const sources = async (id: string) =>
      (await tenant.call('GET', `/v1/contacts/${id}`)).body.unified_profile.profile.email.all_sources.sort()
    const ada = await tenant.contact('ada@example.com')
    await claim({ traits: { email: 'ada@example.com' } }, hash('ada@example.com'))
    expect(await sources(ada)).toEqual(['identify', 'manual'])
    const bob = await tenant.contact('bob@example.com')
    await identify({ email: 'bob@example.com', user_id: 'u-2' })
    // The hash covers the user id only; the email comes from the page.
    expect(await claim({ external_user_id: 'u-2', traits: { email: 'bob@example.com' } }, hash('u-2'))).toBe('')
    expect(await sources(bob)).toEqual(['identify', 'manual', 'tracker'])
    await claim({ external_user_id: 'u-2', traits: { email: 'ada@example.com' } }, hash('u-2'))
    expect(await sources(bob)).toEqual(['identify', 'manual', 'tracker'])
    expect(await sources(ada)).toEqual(['identify', 'manual'])
  })

  test('of an email may write the same as the API', async () => {
    const id = await tenant.contact('ada@example.com', { firstname: 'Ada' })
    const traits = { email: ' Ada@Example.com', firstname: 'Augusta' }
    expect(await claim({ traits }, hash('ada@example.com'))).toBe('')
    const { properties, properties_provenance } = await contactOf(id)
    expect(properties.firstname).toBe('Augusta')
    expect(properties_provenance.firstname.source).toBe('identify')
    expect(await visitorsContact()).toBe(id)
  })

  test('of a user id may write the same as the API to its contact', async () => {
    const id = await identify({ user_id: 'u1', email: 'ada@example.com', properties: { firstname: 'Ada' } })
    const traits = { email: 'ada@example.com', firstname: 'Augusta' }
    expect(await claim({ external_user_id: 'u1', traits }, hash('u1').toUpperCase())).toBe('')
    expect((await contactOf(id)).properties.firstname).toBe('Augusta')
  })

  test('gets a user id that another page claimed', async () => {
    await claim({ external_user_id: 'u1', traits: { email: 'mallory@example.com' } })
    const [mallory] = await contacts()
    const traits = { email: 'ada@example.com' }
    await tenant.track({
      visitor_id: 'w',
      events: [],
      identify: { external_user_id: 'u1', traits },
      user_hash: hash('u1'),
    })
    const ada = await visitorsContact('w')
    expect(ada).not.toBe(mallory.contact_id)
    expect((await contactOf(ada)).properties.email).toBe('ada@example.com')
    expect(await identify({ user_id: 'u1' })).toBe(ada)
  })

  test('with an address is valid over its spelling on the site and over the stored one', async () => {
    const stored = 'kim@xn--bcher-kva.example'
    const id = await tenant.contact(stored, { firstname: 'Kim' })
    for (const [email, signed] of [
      ['Kim@Bücher.example', 'kim@bücher.example'],
      ['Kim@Bücher.example', stored],
      ['\u200bkim@bücher.example', '\u200bkim@bücher.example'],
      [stored, stored],
    ] as const) {
      expect(await claim({ traits: { email, firstname: email } }, hash(signed))).toBe('')
      expect((await contactOf(id)).properties).toMatchObject({ email: stored, firstname: email })
    }
    expect(await claim({ traits: { email: 'kim@bücher.example' } }, hash('ann@example.com'))).toContain('user_hash')
  })

  test("never changes protected properties, because the hash proves only the visitor's identity", async () => {
    const id = await tenant.contact('ada@example.com', { do_not_contact: true, lifecyclestage: 'customer' })
    const traits = { email: 'ada@example.com', do_not_contact: false, lifecyclestage: 'lead' }
    expect(await claim({ traits }, hash('ada@example.com'))).toMatch(/traits\.do_not_contact, traits\.lifecyclestage/)
    expect((await contactOf(id)).properties).toMatchObject({ do_not_contact: true, lifecyclestage: 'customer' })
  })
})

describe('the email sent with a signed user id is not proven: it', () => {
  const traits = { email: 'victim@example.com', firstname: 'Mallory' }

  test('does not identify the contact with that email and another user id', async () => {
    const victim = await identify({ user_id: 'u1', email: 'victim@example.com', properties: { firstname: 'Vera' } })
    const mallory = await identify({ user_id: 'u2', email: 'mallory@example.com' })
    expect(await claim({ external_user_id: 'u2', traits }, hash('u2'))).toContain('traits.email')
    expect(await visitorsContact()).toBe(mallory)
    expect((await contactOf(mallory)).properties.email).toBe('mallory@example.com')
    expect((await contactOf(victim)).properties.firstname).toBe('Vera')
  })

  test('counts as unverified if no contact has the user id yet', async () => {
    const victim = await tenant.contact('victim@example.com', { firstname: 'Vera' })
    expect(await claim({ external_user_id: 'u2', traits }, hash('u2'))).toMatch(
      /counts as unsigned[\s\S]*traits\.firstname/,
    )
    expect((await contactOf(victim)).properties.firstname).toBe('Vera')
    const mallory = await identify({ user_id: 'u2' })
    expect(mallory).not.toBe(victim)
  })

  test('is ignored with the whole identification if signatures are required', async () => {
    const victim = await tenant.contact('victim@example.com', { firstname: 'Vera' })
    await require(true)
    await expect.poll(() => claim({ external_user_id: 'u2', traits }, hash('u2'))).toContain('identify was ignored')
    expect(await visitorsContact()).toBeNull()
    await identify({ user_id: 'u1', email: 'victim@example.com' })
    expect(await claim({ external_user_id: 'u1', traits: { email: 'victim@example.com' } }, hash('u1'))).toBe('')
    expect(await visitorsContact()).toBe(victim)
  })

  test('fills the blank of a contact without one, as an unverified value', async () => {
    const id = await identify({ user_id: 'u1' })
    expect(await claim({ external_user_id: 'u1', traits: { email: 'ada@example.com' } }, hash('u1'))).toBe('')
    const { properties, properties_provenance } = await contactOf(id)
    expect(properties.email).toBe('ada@example.com')
    expect(properties_provenance.email.source).toBe('tracker')
    const real = await identify({ user_id: 'u1', email: 'real@example.com' })
    expect(real).not.toBe(id)
  })
})

describe('a wrong hash', () => {
  test.each([
    ['of something else', () => hash('u2')],
    ['of the email, where there is a user id', () => hash('ada@example.com')],
    ['of another secret', () => hash('u1', 'cdsid_guess')],
    ['of nothing', () => ''],
    ['cut off', () => hash('u1').slice(0, 62)],
    ['that is not a text', () => 5],
  ])('%s is ignored with a warning', async (_, wrong) => {
    const id = await tenant.contact('ada@example.com', { firstname: 'Ada' })
    const sent = { external_user_id: 'u1', traits: { email: 'ada@example.com', firstname: 'Eve', plan: 'pro' } }
    expect(await claim(sent, wrong())).toMatch(/user_hash was ignored[\s\S]*traits\.firstname/)
    expect((await contactOf(id)).properties).toMatchObject({ firstname: 'Ada', plan: 'pro' })
  })

  test("of another tenant's secret is invalid", async () => {
    const own = tenant
    tenant = await createTestTenant(service)
    const theirs = await rotate()
    tenant = own
    expect(await claim({ external_user_id: 'u1' }, hash('u1', theirs))).toContain('user_hash was ignored')
  })
})

describe('if signed identifications are required', () => {
  beforeEach(async () => {
    await require(true)
    // Processes are notified at the commit, which may be a moment after the response.
    await expect.poll(() => claim({ traits: { email: 'x@example.com' } })).toContain('was ignored')
  })

  test('an unsigned one is ignored with a warning, and the events are recorded', async () => {
    const id = await tenant.contact('ada@example.com', { firstname: 'Ada' })
    const sent = { external_user_id: 'u1', traits: { email: 'ada@example.com', plan: 'pro' } }
    expect(await claim(sent, undefined, { events: [{ event: 'kept' }] })).toContain('identify was ignored')
    expect(await claim(sent, hash('u2'))).toMatch(/user_hash was ignored[\s\S]*identify was ignored/)
    expect((await contactOf(id)).properties).not.toHaveProperty('plan')
    const { body } = await tenant.call('GET', '/v1/events')
    expect(body.events).toMatchObject([{ event: 'kept', internal_contact_id: null }])
    expect(await claim(sent, hash('u1'))).toContain('traits.email')
    expect(await claim({ traits: sent.traits }, hash('ada@example.com'))).toBe('')
    expect(await visitorsContact()).toBe(id)
  })

  test('an external_contact_id is ignored, because anyone can send one', async () => {
    const id = await identify({ user_id: 'u1', email: 'ada@example.com' })
    for (const external_contact_id of ['u1', id]) {
      const response = await tenant.track({ visitor_id: 'v', external_contact_id, events: [{ event: 'x' }] })
      expect(response.body.warnings.join()).toContain('external_contact_id was ignored')
    }
    expect(await visitorsContact()).toBeNull()
  })

  test('a form writes to the contact without linking a visitor', async () => {
    const response = await call(service, 'POST', `/v1/public/form-submission/${tenant.id}/f`, {
      headers: { origin: `https://${tenant.site}`, 'user-agent': CHROME },
      body: JSON.stringify({ visitor_id: 'v', contact_data: { email: 'ada@example.com', city: 'Rome' } }),
    })
    expect(response.status).toBe(200)
    expect(response.body.warnings.join()).toContain('not linked')
    expect((await contactOf(response.body.contact_id)).properties.city).toBe('Rome')
    expect(await visitorsContact()).toBeNull()
  })

  test('a server needs no hash', async () => {
    const id = await identify({ visitor_id: 'v', email: 'ada@example.com' })
    expect(await visitorsContact()).toBe(id)
  })
})

describe('the secret', () => {
  test('from before the last rotation is valid for a day; earlier ones are invalid', async () => {
    const first = secret
    expect(await claim({ external_user_id: 'u1' }, hash('u1', first))).toBe('')
    const response = await tenant.call('POST', '/v1/tenant/identity-secret')
    secret = response.body.identity_secret
    expect(secret).not.toBe(first)
    expect(response.body.previous_valid_until).toBe(new Date(now.getTime() + DAY_MS).toISOString())
    await expect.poll(() => claim({ external_user_id: 'u1' }, hash('u1'))).toBe('')
    expect(await claim({ external_user_id: 'u1' }, hash('u1', first))).toBe('')
    now = new Date(now.getTime() + 86_399_999)
    expect(await claim({ external_user_id: 'u1' }, hash('u1', first))).toBe('')
    now = new Date(now.getTime() + 1)
    expect(await claim({ external_user_id: 'u1' }, hash('u1', first))).toContain('user_hash was ignored')
    expect(await claim({ external_user_id: 'u1' }, hash('u1'))).toBe('')
    const second = secret
    await rotate()
    const third = await rotate()
    await expect.poll(() => claim({ external_user_id: 'u1' }, hash('u1', third))).toBe('')
    expect(await claim({ external_user_id: 'u1' }, hash('u1', second))).toContain('user_hash was ignored')
  })

  test('cannot be read; the audit log records who rotated it', async () => {
    const row = await tenant.handle.db.selectFrom('identification_settings').selectAll().executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain(secret.slice(6))
    const { body } = await tenant.call('GET', '/v1/tenant')
    expect(JSON.stringify(body)).not.toContain(secret)
    const log = await tenant.handle.db.selectFrom('audit_log').selectAll().execute()
    expect(log).toMatchObject([{ action: 'tenant.identity_secret_rotated', actor: { kind: 'api_key' } }])
    expect(JSON.stringify(log)).not.toContain(secret)
    expect(service.logged.join()).not.toContain(secret)
  })

  test('that cannot be decrypted verifies nothing; events are still recorded', async () => {
    await tenant.handle.db.updateTable('identification_settings').set({ secret_sealed: 'v1.gone.x' }).execute()
    const send = () => claim({ external_user_id: 'u1' }, hash('u1'), { events: [{ event: 'kept' }] })
    expect(await send()).toContain('user_hash was ignored')
    expect(service.logged.join()).toContain('could not be decrypted')
  })
})
