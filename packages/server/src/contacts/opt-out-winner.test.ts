import { beforeEach, describe, expect, test } from 'vitest'
import { act, uploaded } from '../../test/imports.ts'
import { connect, pulled, useScriptedSystem } from '../../test/scripted-connector.ts'
import { call } from '../../test/service.ts'
import { createSource } from '../../test/sources.ts'
import { suppress } from '../identities/suppressions.ts'
import { unsubscribe } from '../identities/unsubscribe/unsubscribe.ts'

/*
 * An opt-out always wins, whoever says it. It is released by the source that said it, or by a person.
 */

const EMAIL = 'ada@example.com'

const bench = useScriptedSystem()
let contactId: string

beforeEach(async () => {
  contactId = await bench.tenant.contact(EMAIL)
})

async function push(source: string, properties: object, more: object = {}, kind = 'crm'): Promise<void> {
  const records = [{ external_id: `${source}-1`, email: EMAIL, properties, ...more }]
  const { body } = await bench.tenant.call('POST', `/v1/sources/${source}/contacts`, { kind, records })
  expect(body.results[0]).toMatchObject({ contact_id: contactId })
}

const put = (properties: object) => bench.tenant.call('PUT', `/v1/contacts/${contactId}`, { properties })
/** From a server, with an API key. */
async function identify(properties: object): Promise<void> {
  const { body } = await bench.tenant.call('POST', '/v1/identify', { email: EMAIL, properties })
  expect(body.contact_id).toBe(contactId)
}

/** From an SDK on a server. */
async function sendTraits(traits: object): Promise<void> {
  const writeKey = await createSource(bench.tenant, 'server')
  const body = JSON.stringify({ userId: 'u1', traits: { email: EMAIL, ...traits }, writeKey })
  expect((await call(bench.service, 'POST', '/v1/identify', { body })).status).toBe(200)
}

/** The property that decides that the contact is not written to, and who said it. */
async function silencedBy(): Promise<[property: string, source: string] | null> {
  const { contact } = (await bench.tenant.call('GET', `/v1/contacts/${contactId}?include=provenance`)).body
  if (contact.consent === null) return null
  const { property } = contact.consent
  return [property, contact.properties_provenance[property].source]
}

const DAY = (day: number) => ({ updated_at: `2026-01-${String(day).padStart(2, '0')}T00:00:00.000Z` })

describe("an opt-out is not released by another system's default", () => {
  test('of a second CRM; the first one releases it, when the person opts in again there', async () => {
    await push('hubspot', { unsubscribed: true })
    for (const value of [false, '', 'no', null]) {
      await push('pipedrive', { unsubscribed: value })
      expect(await silencedBy()).toEqual(['unsubscribed', 'hubspot'])
    }
    await push('hubspot', { unsubscribed: false })
    expect(await silencedBy()).toBeNull()
    await push('pipedrive', { unsubscribed: true })
    expect(await silencedBy()).toEqual(['unsubscribed', 'pipedrive'])
  })

  test('if two systems say it, both have to take it back, in any order', async () => {
    for (const [first, second] of [
      ['hubspot', 'pipedrive'],
      ['pipedrive', 'hubspot'],
    ] as const) {
      await push('hubspot', { opted_out: true })
      await push('pipedrive', { opted_out: true })
      await push(first, { opted_out: first === 'hubspot' ? null : false })
      expect(await silencedBy()).toEqual(['opted_out', second])
      await push(second, { opted_out: false })
      expect(await silencedBy()).toBeNull()
    }
  })

  test('that a person has noted, by a CRM or a server', async () => {
    await put({ do_not_contact: true, unsubscribed: true })
    await push('hubspot', { do_not_contact: false, unsubscribed: false })
    await identify({ do_not_contact: false, unsubscribed: false })
    await sendTraits({ do_not_contact: false, unsubscribed: false })
    expect(await silencedBy()).toEqual(['do_not_contact', 'manual'])
    await put({ do_not_contact: false })
    expect(await silencedBy()).toEqual(['unsubscribed', 'manual'])
  })

  test("of a CRM by a server's trait, and the other way round", async () => {
    await push('hubspot', { unsubscribed: true })
    await identify({ unsubscribed: false })
    await sendTraits({ unsubscribed: false })
    expect(await silencedBy()).toEqual(['unsubscribed', 'hubspot'])
    await identify({ opted_out: true })
    await push('hubspot', { opted_out: false, unsubscribed: false })
    expect(await silencedBy()).toEqual(['opted_out', 'identify'])
    await identify({ opted_out: false })
    expect(await silencedBy()).toBeNull()
  })

  test('that the link in a mail recorded; the suppression of the address is removed by a person, with consent', async () => {
    await suppress(bench.tenant.handle, { address: EMAIL, reason: 'unsubscribed', details: null }, new Date())
    await unsubscribe(bench.tenant.handle, bench.service.writing, { address: EMAIL, contactId })
    await push('hubspot', { unsubscribed: false })
    expect(await silencedBy()).toEqual(['unsubscribed', 'email'])
    await push('pipedrive', { unsubscribed: true }, DAY(1))
    await bench.tenant.call('DELETE', `/v1/suppressions/${encodeURIComponent(EMAIL)}?consented=true`)
    expect(await silencedBy()).toBeNull()
  })

  test('of an import, neither by another file over a hand, nor by undoing it after a CRM said the same', async () => {
    await put({ unsubscribed: true })
    const released = await act(
      bench.tenant,
      await uploaded(bench.tenant, `email,unsubscribed\n${EMAIL},false\n`),
      'preview',
      'previewed',
    )
    expect(released.consent).toMatchObject({ silenced: 0, still_silent: 1, released: 0 })
    await act(bench.tenant, released, 'start', 'completed')
    expect(await silencedBy()).toEqual(['unsubscribed', 'manual'])
    await put({ unsubscribed: false })
    const silent = await act(
      bench.tenant,
      await uploaded(bench.tenant, `email,unsubscribed\n${EMAIL},true\n`),
      'start',
      'completed',
    )
    expect(await silencedBy()).toEqual(['unsubscribed', 'import'])
    await push('hubspot', { unsubscribed: true })
    await act(bench.tenant, silent, 'undo', 'undone')
    expect(await silencedBy()).toEqual(['unsubscribed', 'hubspot'])
  })

  test('an earlier import is contradicted by a later one, and the preview says so', async () => {
    await act(bench.tenant, await uploaded(bench.tenant, `email,unsubscribed\n${EMAIL},true\n`), 'start', 'completed')
    const file = await act(
      bench.tenant,
      await uploaded(bench.tenant, `email,unsubscribed\n${EMAIL},false\n`),
      'preview',
      'previewed',
    )
    expect(file.consent).toMatchObject({ released: 1 })
    await act(bench.tenant, file, 'start', 'completed')
    expect(await silencedBy()).toBeNull()
  })

  test('by a weaker word: a bounce does not replace what the person asked for', async () => {
    await push('mailchimp', { status: 'unsubscribed' })
    await push('brevo', { status: 'cleaned' })
    await push('hubspot', { status: 'active' })
    expect(await silencedBy()).toEqual(['status', 'mailchimp'])
  })

  test('after one of two systems that say it has deleted the person', async () => {
    const path = await connect(bench.tenant)
    const first = await pulled(bench.tenant, path)
    const record = { external_id: 's1', email: EMAIL, properties: { unsubscribed: true } }
    await push('hubspot', { unsubscribed: true })
    bench.system.pages = [{ contacts: [record] }, { deleted: ['s1'] }]
    await bench.tenant.call('POST', `${path}/reread`, {})
    await pulled(bench.tenant, path, first.run_id)
    await push('hubspot', { unsubscribed: false })
    expect(await silencedBy()).not.toBeNull()
    await put({ unsubscribed: false })
    expect(await silencedBy()).toBeNull()
  })
})

describe('an opt-out always wins', () => {
  test('also of a source that otherwise only fills blanks; it takes it back itself', async () => {
    await push('hubspot', { bounced: false })
    await push('checker', { bounced: true }, {}, 'enrichment')
    expect(await silencedBy()).toEqual(['bounced', 'checker'])
    await push('hubspot', { bounced: false })
    expect(await silencedBy()).toEqual(['bounced', 'checker'])
    await push('checker', { bounced: false }, {}, 'enrichment')
    expect(await silencedBy()).toBeNull()
  })

  test('also over a newer default of another system, but not over what a person has chosen since', async () => {
    await push('hubspot', { unsubscribed: false }, DAY(20))
    await push('pipedrive', { unsubscribed: true }, DAY(10))
    expect(await silencedBy()).toEqual(['unsubscribed', 'pipedrive'])
    await put({ unsubscribed: false })
    await push('pipedrive', { unsubscribed: true }, DAY(11))
    expect(await silencedBy()).toBeNull()
    await push('pipedrive', { unsubscribed: true })
    expect(await silencedBy()).toEqual(['unsubscribed', 'pipedrive'])
  })

  test('but not over what a person has chosen since, although another record of the source was changed later', async () => {
    await put({ opted_out: false })
    await push('hubspot', { firstname: 'Ada' })
    await push('hubspot', { opted_out: true }, { ...DAY(5), external_id: 'hubspot-2' })
    expect(await silencedBy()).toBeNull()
    await push('hubspot', { opted_out: true }, { external_id: 'hubspot-2' })
    expect(await silencedBy()).toEqual(['opted_out', 'hubspot'])
  })

  test('a person releases what all systems have said', async () => {
    await push('hubspot', { opted_out: true })
    await push('pipedrive', { opted_out: true })
    await put({ opted_out: null })
    expect(await silencedBy()).toBeNull()
    // A release of one system does not bring back what another said before.
    await push('hubspot', { opted_out: true })
    await push('hubspot', { opted_out: false })
    expect(await silencedBy()).toBeNull()
  })

  test('a merge keeps it, and after the merge only its source releases it', async () => {
    await push('hubspot', { unsubscribed: true })
    const survivor = await bench.tenant.contact('b@example.com', { unsubscribed: false })
    await bench.tenant.call('POST', `/v1/contacts/${contactId}/merge`, { into: survivor })
    const merged = contactId
    contactId = survivor
    await push('pipedrive', { unsubscribed: false })
    expect(await silencedBy()).toEqual(['unsubscribed', 'hubspot'])
    await bench.tenant.call('POST', `/v1/contacts/${merged}/unmerge`)
    expect(await silencedBy()).toBeNull()
    contactId = merged
    expect(await silencedBy()).toEqual(['unsubscribed', 'hubspot'])
    await push('hubspot', { unsubscribed: false })
    expect(await silencedBy()).toBeNull()
  })

  test.each([
    ['brevo', 'cleaned', 'mailchimp', 'unsubscribed'],
    ['brevo', 'unsubscribed', 'mailchimp', 'cleaned'],
    ['brevo', 'cleaned', 'brevo', 'unsubscribed'],
    ['brevo', 'unsubscribed', 'brevo', 'cleaned'],
  ])('in a merge, what the person asked for wins over a later bounce: %s %s, %s %s', async (...said) => {
    const write = async (source: string, status: string, name: string) => {
      const email = `${name}@example.com`
      const records = [{ external_id: name, email, properties: { status }, ...DAY(status === 'cleaned' ? 20 : 10) }]
      const { body } = await bench.tenant.call('POST', `/v1/sources/${source}/contacts`, { records })
      return body.results[0].contact_id as string
    }
    const [ours, ourStatus, theirs, theirStatus] = said
    const into = await write(ours, ourStatus, 'survivor')
    const merged = await write(theirs, theirStatus, 'other')
    await bench.tenant.call('POST', `/v1/contacts/${merged}/merge`, { into })
    const records = await bench.tenant.handle.db
      .selectFrom('contact_sources')
      .select('fields')
      .where('contact_id', '=', into)
      .execute()
    const { contact } = (await bench.tenant.call('GET', `/v1/contacts/${into}`)).body
    expect(contact.consent).toMatchObject({ rule: 'unsubscribed', value: 'unsubscribed' })
    expect(JSON.stringify(records)).toContain('unsubscribed')
  })
})
