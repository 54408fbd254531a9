import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { propose } from '../../test/actions.ts'
import { act, uploaded } from '../../test/imports.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import type { IncomingMessage } from '../conversations/message.ts'
import { recordMessages } from '../conversations/record.ts'

let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service, { enriches: true })
})

async function read(contactId: string) {
  const { status, body } = await tenant.call('GET', `/v1/contacts/${contactId}?include=provenance,raw`)
  expect(status).toBe(200)
  return { ...body.contact, profile: body.unified_profile }
}
const enrich = async (contactId: string) => {
  const { status, body } = await tenant.call('POST', `/v1/contacts/${contactId}/enrich`)
  expect(status).toBe(200)
  return body.enrichment
}
const put = async (contactId: string, body: object) =>
  expect((await tenant.call('PUT', `/v1/contacts/${contactId}`, body)).status).toBe(200)
const set = async (body: object) => expect((await tenant.call('PATCH', '/v1/enrichment', body)).status).toBe(200)
const domainOf = async (contactId: string) => {
  const { company_id } = await read(contactId)
  if (company_id === null) return null
  return (await tenant.call('GET', `/v1/companies/${company_id}`)).body.company.domain
}
const countOf = async (event: string) =>
  (await tenant.call('GET', `/v1/events?event_type=${event}&count_only=true`)).body.count

describe('the company of a work address', () => {
  test('is the one with its registrable domain, which many contacts at once create once', async () => {
    const emails = ['ada@acme.co.uk', 'bo@mail.acme.co.uk', 'cy@acme.co.uk', 'di@globex.io', 'ed@globex.io']
    const ids = await Promise.all(emails.map((email) => tenant.contact(email)))
    expect(await Promise.all(ids.map(domainOf))).toEqual([
      'acme.co.uk',
      'acme.co.uk',
      'acme.co.uk',
      'globex.io',
      'globex.io',
    ])
    expect((await tenant.call('GET', '/v1/companies?count_only=true')).body.count).toBe(2)
    expect((await tenant.call('GET', '/v1/contacts?status=enriched&count_only=true')).body.count).toBe(5)
    expect([await countOf('contact_created'), await countOf('contact_updated')]).toEqual([5, 0])
  })

  test('is none where anybody can get an address', async () => {
    const emails = ['gmail.com', 'gmx.at', 'mailinator.com', 'hey.com', 'example.com', 'intranet.local', 'co.uk']
    for (const host of emails) expect([host, await domainOf(await tenant.contact(`ada@${host}`))]).toEqual([host, null])
    expect(await domainOf(await tenant.contact('ada@one-of-many.github.io'))).toBe('one-of-many.github.io')
    expect((await tenant.call('GET', '/v1/contacts?status=not_enriched&count_only=true')).body.count).toBe(7)
  })

  test('fills a blank only, follows the address while nobody else chose it, and stays removed', async () => {
    const { company } = (await tenant.call('POST', '/v1/companies', { name: 'Chosen' })).body
    const chosen = await tenant.contact('ada@acme.io', {}, { company_id: company.company_id })
    expect((await read(chosen)).company_id).toBe(company.company_id)

    const moving = await tenant.contact('bo@acme.io')
    await put(moving, { properties: { email: 'bo@globex.io' } })
    expect(await domainOf(moving)).toBe('globex.io')
    await put(moving, { company_id: null })
    await put(moving, { properties: { jobtitle: 'Engineer' } })
    await enrich(moving)
    expect(await domainOf(moving)).toBe(null)
  })
})

describe('a phone number', () => {
  test('gets its standard form, by the contact’s country or the workspace’s', async () => {
    const phoneOf = async (properties: object) => {
      const id = await tenant.contact(`p${Math.random()}@example.com`, { ...properties })
      const { phone_e164, phone_country } = (await read(id)).properties
      return phone_e164 === undefined ? null : `${phone_country} ${phone_e164}`
    }
    expect(await phoneOf({ phone: '+43 1 588 58-0' })).toBe('AT +431588580')
    expect(await phoneOf({ phone: '01 588580', country: 'Austria' })).toBe('AT +431588580')
    expect(await phoneOf({ mobilephone: '(415) 555-2671', country: 'US' })).toBe('US +14155552671')
    expect(await phoneOf({ phone: '01 588580' })).toBe(null)
    for (const phone of ['call me', '12', `+43${'1'.repeat(5_000)}`]) expect(await phoneOf({ phone })).toBe(null)
    await set({ country: 'at' })
    expect(await phoneOf({ phone: '01 588580' })).toBe('AT +431588580')
    expect(await phoneOf({ phone: '030 123456', country: 'DE' })).toBe('DE +4930123456')
  })

  test('follows the number that it came from, and never replaces what somebody said', async () => {
    const id = await tenant.contact('ada@example.com', { phone: '+43 1 588580' })
    const first = await read(id)
    expect(first.properties_provenance.phone_e164.source).toBe('enrichment')
    expect(first.profile.sources.enrichment.enriched_at).toBe(first.profile.enriched_at)
    expect(first.profile.raw_data.enrichment.phone).toMatchObject({ property: 'phone', phone_e164: '+431588580' })
    const { body } = await tenant.call('GET', '/v1/events?event_type=contact_created')
    expect(body.events[0].data.properties).toMatchObject({ phone: '+43 1 588580', phone_e164: '+431588580' })

    await put(id, { properties: { phone: '+49 30 123456' } })
    expect((await read(id)).properties).toMatchObject({ phone_e164: '+4930123456', phone_country: 'DE' })
    await put(id, { properties: { phone: null } })
    expect((await read(id)).properties).not.toHaveProperty('phone_e164')
    await put(id, { properties: { phone: '+49 30 123456' } })
    expect((await read(id)).properties).toMatchObject({ phone_e164: '+4930123456' })

    await put(id, { properties: { phone_e164: 'by hand' } })
    await put(id, { properties: { phone: '+43 1 588580' } })
    expect((await read(id)).properties).toMatchObject({ phone_e164: 'by hand', phone_country: 'AT' })
    await put(id, { properties: { phone_e164: null, phone_country: null } })
    await put(id, { properties: { phone: '+49 30 123456' } })
    await enrich(id)
    const { properties } = await read(id)
    expect([properties.phone_e164, properties.phone_country]).toEqual([undefined, undefined])
  })
})

describe('the place of the last visit', () => {
  const [GERMAN, FRENCH] = ['91.7.4.19', '2.6.77.3']
  const visit = async (email: string, ip: string) => {
    const sent = { events: [{ event: 'opened', email, context: { ip } }] }
    expect((await tenant.call('POST', '/v1/events', sent)).status).toBe(200)
  }
  const countryOf = async (id: string) => (await read(id)).properties.country

  test('is filled within seconds and follows the contact, but never replaces a country that somebody said', async () => {
    const [ada, bo] = [
      await tenant.contact('ada@example.com'),
      await tenant.contact('bo@example.com', { country: 'Austria' }),
    ]
    await visit('ada@example.com', GERMAN)
    await visit('bo@example.com', GERMAN)
    await until(async () => expect(await countryOf(ada)).toBe('DE'))
    await visit('ada@example.com', FRENCH)
    await until(async () => expect(await countryOf(ada)).toBe('FR'))
    const changes = await countOf('contact_updated')
    await visit('ada@example.com', FRENCH)
    await enrich(ada)
    await enrich(bo)
    expect([await countOf('contact_updated'), await countryOf(bo)]).toEqual([changes, 'Austria'])
  })

  test('is read from the events on demand, even of visits while it was off', async () => {
    await set({ place: false })
    const ada = await tenant.contact('ada@example.com')
    await visit('ada@example.com', GERMAN)
    const place = (await enrich(ada)).results.find((each: { enricher: string }) => each.enricher === 'place')
    expect(place).toEqual({ enricher: 'place', enabled: false, filled: [], found_at: null, found: null })
    await set({ place: true })
    expect((await enrich(ada)).results.find((each: { enricher: string }) => each.enricher === 'place')).toMatchObject({
      enabled: true,
      filled: ['country'],
      found: { country: 'DE' },
    })
  })
})

describe('a name', () => {
  let count = 0
  const mail = (address: string, name: string, more: Partial<IncomingMessage> = {}): IncomingMessage => ({
    channel: 'email',
    source: 'email',
    messageId: `${tenant.id}-${++count}`,
    threadKey: null,
    inReplyTo: null,
    references: [],
    subject: 'Hello',
    from: { address, name },
    to: [{ address: 'sales@ours.example', name: 'Sales' }],
    cc: [],
    sentAt: new Date(),
    direction: 'inbound',
    text: 'Hello',
    html: null,
    attachments: [],
    identityId: null,
    ...more,
  })
  const record = (...mails: IncomingMessage[]) => recordMessages(tenant.handle, service.writing, mails)
  const nameOf = async (id: string) => {
    const { firstname = null, lastname = null } = (await read(id)).properties
    return [firstname, lastname]
  }

  test('comes from the header of a mail, for contacts without any', async () => {
    const [ada, bo, info] = [
      await tenant.contact('ada@example.com'),
      await tenant.contact('bo@example.com', { firstname: 'Robert' }),
      await tenant.contact('info@example.com'),
    ]
    await record(mail('ada@example.com', 'Acme Support Team'), mail('ada@example.com', 'adalove99'))
    await record(mail('ada@example.com', 'Out Of Office', { isAutomatic: true }))
    expect(await nameOf(ada)).toEqual([null, null])
    await record(
      mail('ada@example.com', '"Lovelace, Ada"'),
      mail('bo@example.com', 'Bob Smith'),
      mail('info@example.com', 'Grace Hopper'),
    )
    expect(await nameOf(ada)).toEqual(['Ada', 'Lovelace'])
    expect(await nameOf(bo)).toEqual(['Robert', null])
    expect(await nameOf(info)).toEqual([null, null])
    expect((await read(ada)).properties_provenance.firstname.source).toBe('enrichment')
    await put(ada, { properties: { firstname: null, lastname: null } })
    await record(mail('ada@example.com', 'Ada Byron'))
    expect(await nameOf(ada)).toEqual([null, null])
  })

  test('is read from earlier mails on demand', async () => {
    await set({ name: false })
    const ada = await tenant.contact('ada@example.com')
    await record(mail('ada@example.com', 'Ada Lovelace'))
    await set({ name: true })
    await enrich(ada)
    expect(await nameOf(ada)).toEqual(['Ada', 'Lovelace'])
  })
})

describe('what somebody else did', () => {
  const PHONE = { phone: '+43 1 588580' }

  test('of a merge, the survivor is enriched, and an unmerge takes that back', async () => {
    await set({ phone: false })
    const [ada, bo] = [await tenant.contact('ada@example.com'), await tenant.contact('bo@example.com', PHONE)]
    await set({ phone: true })
    expect((await tenant.call('POST', `/v1/contacts/${bo}/merge`, { into: ada })).status).toBe(200)
    expect((await read(ada)).properties).toMatchObject({ ...PHONE, phone_e164: '+431588580' })
    expect((await tenant.call('POST', `/v1/contacts/${bo}/unmerge`)).status).toBe(200)
    expect([(await read(ada)).properties, (await read(ada)).profile.enriched_at]).toEqual([
      { email: 'ada@example.com' },
      null,
    ])
  })

  test('an agent changed is enriched with the change', async () => {
    const ada = await tenant.contact('ada@example.com')
    await propose(tenant.handle, service.jobs, { contactId: ada, type: 'crm_update', params: { properties: PHONE } })
    await until(async () => expect((await read(ada)).properties).toMatchObject({ ...PHONE, phone_e164: '+431588580' }))
  })
})

describe('every enrichment', () => {
  test('can be switched off, and says what it filled', async () => {
    const all = { company: true, place: true, phone: true, name: true, country: null }
    expect((await tenant.call('GET', '/v1/enrichment')).body).toEqual({ status: 'success', enrichment: all })
    const off = { company: false, place: false, phone: false, name: false }
    const changed = await tenant.call('PATCH', '/v1/enrichment', { ...off, country: 'AT' })
    expect(changed.body).toEqual({ status: 'success', enrichment: { ...off, country: 'AT' } })
    const ada = await tenant.contact('ada@acme.io', { phone: '01 588580' })
    expect(await read(ada)).toMatchObject({ company_id: null, profile: { enriched_at: null } })
    await set({ company: true, phone: true, country: null })
    await enrich(ada)
    await put(ada, { properties: { phone: '+43 1 588580' } })
    const { body } = await tenant.call('GET', `/v1/contacts/${ada}/enrich`)
    expect(body.enrichment.results).toMatchObject([
      { enricher: 'company', enabled: true, filled: ['company_id'], found: { domain: 'acme.io' } },
      { enricher: 'place', enabled: false, filled: [] },
      { enricher: 'phone', enabled: true, filled: ['phone_e164', 'phone_country'] },
      { enricher: 'name', enabled: false, filled: [] },
    ])
    const { entries } = (await tenant.call('GET', '/v1/audit-log')).body
    expect(entries.map(({ action }: { action: string }) => action)).toContain('enrichment.updated')
    for (const country of ['ZZ', 'AUT', '', 7]) {
      const refused = await tenant.call('PATCH', '/v1/enrichment', { country })
      expect([country, refused.status, refused.body.error?.code]).toEqual([country, 400, 'validation_error'])
    }
  })

  test('refuses strangers, keys without the scope, and merged contacts', async () => {
    const ada = await tenant.contact('ada@acme.io')
    const other = await createTestTenant(service)
    const refused = async (method: string, path: string, key: string) => {
      const { status, body } = await tenant.call(method, path, undefined, key)
      return `${status} ${body.error?.code}`
    }
    for (const method of ['GET', 'POST']) {
      expect(await refused(method, `/v1/contacts/${ada}/enrich`, other.key)).toBe('404 not_found')
    }
    const reader = await tenant.keyWith('contacts:read')
    expect(await refused('POST', `/v1/contacts/${ada}/enrich`, reader)).toBe('403 insufficient_scope')
    expect(await refused('PATCH', '/v1/enrichment', reader)).toBe('403 insufficient_scope')
    const survivor = await tenant.contact('countess@acme.io')
    await tenant.call('POST', `/v1/contacts/${ada}/merge`, { into: survivor })
    for (const method of ['GET', 'POST']) {
      expect(await refused(method, `/v1/contacts/${ada}/enrich`, tenant.key)).toBe('404 contact_merged')
    }
  })

  test('never fails the write of a full contact, and nobody else can write as it', async () => {
    const full = Object.fromEntries(Array.from({ length: 498 }, (_, number) => [`key_${number}`, 'x']))
    const id = await tenant.contact('ada@acme.io', { ...full, phone: '+43 1 588580' })
    const { properties, company_id, profile } = await read(id)
    expect([properties.phone_e164, company_id, profile.enriched_at]).toEqual([undefined, null, null])
    const records = [{ external_id: '1', email: 'bo@acme.io' }]
    const pushed = await tenant.call('POST', '/v1/sources/enrichment/contacts', { records })
    expect([pushed.status, pushed.body.error.code]).toEqual([400, 'validation_error'])
  })

  test('of imported rows is one with their creation, and goes when the import is undone', async () => {
    const rows = ['email,phone', 'ada@acme.io,+43 1 588580', 'bo@acme.io,', 'cy@gmail.com,']
    const done = await act(tenant, await uploaded(tenant, `${rows.join('\n')}\n`), 'start', 'completed')
    expect((await tenant.call('GET', '/v1/contacts?status=enriched&count_only=true')).body.count).toBe(2)
    expect([await countOf('contact_created'), await countOf('contact_updated')]).toEqual([3, 0])
    const undone = await act(tenant, done, 'undo', 'undone')
    expect(undone.undo).toMatchObject({ deleted: 3, kept: 0 })
  })
})
