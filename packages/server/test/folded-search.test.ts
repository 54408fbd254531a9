import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { folded } from '../src/platform/clickhouse/folded-text.ts'
import { type Browser, signedIn } from './people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'

let service: TestService
let tenant: TestTenant
let admin: Browser

/** A word as it is stored, and as a person searches for it. */
const WORDS: [string, string][] = [
  ['Οδυσσεύς', 'ΟΔΥΣΣΕΎΣ'],
  ['ΟΔΥΣΣΕΎΣ', 'οδυσσεύς'],
  ['Straße', 'STRASSE'],
  ['STRASSE', 'straße'],
  ['straße', 'STRAẞE'],
  ['İstanbul', 'istanbul'],
  ['DIYARBAKIR', 'diyarbakır'],
  ['ISPARTA', 'ısparta'],
  ['Café'.normalize('NFC'), 'CAFÉ'.normalize('NFD')],
  ['Café'.normalize('NFD'), 'café'.normalize('NFC')],
  ['Москва', 'МОСКВА'],
]
// The number makes each pair unique.
const PAIRS = WORDS.map(([stored, searched], n): [string, string, number] => [`${n}n${stored}`, `${n}N${searched}`, n])

const contactIds: string[] = []

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  admin = await signedIn(service, tenant.id, 'admin')
  for (const [stored, , n] of PAIRS) {
    const properties = { lastname: stored, jobtitle: `The ${stored} one`, tags: ['x', `a ${stored}`] }
    contactIds.push(await tenant.contact(`c${n}@example.com`, properties, { visitor_id: `v${n}` }))
    await tenant.call('POST', '/v1/companies', { domain: `c${n}.example`, name: `${stored} Ltd` })
    await tenant.call('POST', '/v1/identities', { firstName: stored, lastName: `i${n}`, role: 'x' })
    const url = `https://${tenant.site}/${stored}/page`
    const data = { text: `a ${stored}`, class: `btn ${stored}` }
    await tenant.track({ visitor_id: `v${n}`, events: [{ event: `e${n} ${stored}`, url, title: `a ${stored}`, data }] })
  }
})

const ask = async (path: string) => (await tenant.call('GET', path)).body

describe.each(PAIRS)('%s is found as %s', (stored, searched, n) => {
  test('among contacts, by words and job title', async () => {
    for (const query of [`search=${searched}`, `job_title=${searched}`, `search=${searched} c${n}@`]) {
      const { contacts } = await ask(`/v1/contacts?${encodeURI(query)}`)
      expect(contacts.map(({ contact_id }: { contact_id: string }) => contact_id)).toEqual([contactIds[n]])
    }
    const filters = { job_title: searched }
    const { body } = await tenant.call('POST', '/v1/aggregate', { entity: 'contacts', group_by: 'country', filters })
    expect(body.total).toBe(1)
  })

  test('among contacts, by their events', async () => {
    for (const name of ['has_event_text_contains', 'has_event_url_contains', 'has_event_class_contains']) {
      const { contacts } = await ask(`/v1/contacts?${name}=${encodeURIComponent(searched)}`)
      expect([name, contacts.map(({ contact_id }: { contact_id: string }) => contact_id)]).toEqual([
        name,
        [contactIds[n]],
      ])
    }
  })

  test('among companies and identities', async () => {
    const { companies } = await ask(`/v1/companies?search=${encodeURIComponent(searched)}`)
    expect(companies.map(({ domain }: { domain: string }) => domain)).toEqual([`c${n}.example`])
    const { body } = await admin.call('GET', `/v1/identities?${new URLSearchParams({ search: searched })}`)
    expect(body.identities.map(({ lastName }: { lastName: string }) => lastName)).toEqual([`i${n}`])
  })

  test('among events', async () => {
    for (const name of ['search', 'url_contains']) {
      const { events } = await ask(`/v1/events?${name}=${encodeURIComponent(searched)}`)
      expect(events.map(({ event }: { event: string }) => event)).toEqual([`e${n} ${stored}`])
    }
    for (const name of ['text_contains', 'title_contains', 'class_contains', 'url_contains']) {
      const asked = { entity: 'events', group_by: 'event_type', filters: { [name]: searched } }
      const { body } = await tenant.call('POST', '/v1/aggregate', asked)
      expect([name, body.buckets]).toEqual([name, [{ key: `e${n} ${stored}`, value: 1 }]])
    }
  })

  test('by the filter of a segment, and in its suggestions', async () => {
    const conditions = [
      { property: 'lastname', operator: 'contains', value: searched },
      { property: 'tags', operator: 'contains', value: searched },
      { event: { text_contains: searched }, operator: 'did' },
    ]
    for (const condition of conditions) {
      const filter = { match: 'all', conditions: [condition] }
      const { body } = await admin.call('POST', '/v1/segments/preview', { filter })
      expect([condition, body.count]).toEqual([condition, 1])
    }
    for (const property of ['lastname', 'event.text', 'company_id']) {
      const query = new URLSearchParams({ property, q: searched })
      const { body } = await admin.call('GET', `/v1/segments/suggestions?${query}`)
      expect([property, body.values.length]).toEqual([property, 1])
    }
  })
})

/** Capitals that PostgreSQL 18 does not know yet. */
const NEW_IN_UNICODE_17 = /[\ua7ce\ua7d2\ua7d4\u{16ea0}-\u{16eb8}]/u

test('PostgreSQL and ClickHouse fold every letter alike', async () => {
  const letters = Array.from({ length: 0x1ffff }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter((letter) => /[\p{L}\p{M}\p{N}]/u.test(letter) && !NEW_IN_UNICODE_17.test(letter))
  const { rows } = await sql<{ folded: string[] }>`SELECT array_agg(fold_text(letter) ORDER BY place) AS folded
    FROM unnest(${letters}::text[]) WITH ORDINALITY AS letters (letter, place)`.execute(service.stores.database)
  const inPostgres = rows[0]?.folded ?? []
  const question = `SELECT ${folded('letter')} AS folded FROM (SELECT arrayJoin({letters: Array(String)}) AS letter)`
  const found = await service.stores.clickhouse.query<{ folded: string }>(question, { letters }, {})
  const differing = letters.filter((_, index) => inPostgres[index] !== found[index]?.folded)
  expect(differing.map((letter) => letter.codePointAt(0)?.toString(16))).toEqual([])
})
