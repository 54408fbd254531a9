import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { importWithCommand } from '../../test/imports.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { ROWS_PER_CHUNK } from './chunks.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

/** @returns how many rows had each result. */
async function importText(content: string) {
  const { import_id, created, updated, unchanged, failed } = await importWithCommand(service, tenant, content)
  return { import_id, counts: { created, updated, unchanged, failed } }
}

const allUnchanged = (rows: number) => ({ created: 0, updated: 0, unchanged: rows, failed: 0 })

/** The tenant's contacts as the API returns them, and the number of recorded changes. */
async function everything() {
  const { contacts } = (await tenant.call('GET', '/v1/contacts?sort_by=email&include=provenance')).body
  const details = []
  for (const { contact_id } of contacts) {
    const { body } = await tenant.call('GET', `/v1/contacts/${contact_id}?include=provenance,raw`)
    details.push({ ...body, timestamp: null })
  }
  const changes = await tenant.call('GET', '/v1/events?event_type=contact_updated&count_only=1')
  return { details, changes: changes.body.count }
}

async function ada(email = 'ada@example.com') {
  const { body } = await tenant.call('GET', `/v1/contacts?search=${email}&include=provenance`)
  return body.contacts[0]
}

describe('importing a file with two rows of one contact again changes nothing', () => {
  test.each([
    ['other values', 'email,firstname\nada@example.com,Ada\nada@example.com,Augusta\n'],
    ['other columns too', 'email,firstname,city\nada@example.com,Ada,London\nada@example.com,Augusta,\n'],
    ['three rows', 'email,city\nada@example.com,Rome\nada@example.com,Oslo\nada@example.com,Rome\n'],
    ['other external ids', 'email,external_id\nada@example.com,1\nada@example.com,2\n'],
    ['one external id', 'external_id,firstname,email\n1,Ada,\n1,Augusta,ada@example.com\n'],
    ['others between them', 'email,city\nada@example.com,Rome\nbob@example.com,Bonn\nada@example.com,Oslo\n'],
    ['a company', 'email,city,company_domain\nada@example.com,Rome,acme.com\nada@example.com,Oslo,acme.com\n'],
  ])('%s', async (_, content) => {
    const rows = content.trimEnd().split('\n').length - 1
    expect((await importText(content)).counts).toMatchObject({ created: content.includes('bob') ? 2 : 1, failed: 0 })
    const before = await everything()
    expect((await importText(content)).counts).toEqual(allUnchanged(rows))
    expect(await everything()).toEqual(before)
  })

  const others = Array.from({ length: ROWS_PER_CHUNK + 10 }, (_, n) => `,p${n}@example.com,x\n`).join('')
  test('with thousands of rows between them', async () => {
    const people = [
      { name: 'one email', first: ',a0@example.com,Rome\n', last: ',a0@example.com,Oslo\n' },
      { name: 'one external id', first: '1,,Rome\n', last: '1,a1@example.com,Oslo\n' },
      {
        name: 'an email that comes with the external id',
        ...{ first: '2,a2@example.com,Rome\n', last: ',a2@example.com,Oslo\n' },
      },
      {
        name: 'an email that leads to it through a third row',
        ...{ first: '3,a3@example.com,Rome\n4,a3@example.com,Bonn\n', last: '4,,Oslo\n' },
      },
    ]
    const [first, last] = [people.map((each) => each.first).join(''), people.map((each) => each.last).join('')]
    const content = `external_id,email,city\n${first}${others}${last}`
    await importText(content)
    const read = () => Promise.all(people.map((_, index) => ada(`a${index}@example.com`)))
    const before = await read()
    const rows = content.trimEnd().split('\n').length - 1
    expect((await importText(content)).counts).toEqual(allUnchanged(rows))
    expect(await read()).toEqual(before)
    for (const [index, { name }] of people.entries())
      expect([name, before[index].properties.city]).toEqual([name, 'Oslo'])
  })

  test('if only the stored contact links the external id and the email', async () => {
    await importText('external_id,email\n1,ada@example.com\n')
    const content = `external_id,email,city\n1,,Rome\n${others},ada@example.com,Oslo\n`
    expect((await importText(content)).counts).toMatchObject({ updated: 2, failed: 0 })
    expect((await importText(content)).counts).toEqual(allUnchanged(ROWS_PER_CHUNK + 12))
    expect((await ada()).properties.city).toBe('Oslo')
  })
})

test('every row counts once, and every failed row is listed, however far apart the rows of a contact are', async () => {
  const isFailed = (n: number) => n % 7 === 3
  const numbers = Array.from({ length: 5_000 }, (_, n) => n)
  const emailOf = (n: number) => `p${(n * 7) % 3_000}@example.com`
  const rows = numbers.map((n) => (isFailed(n) ? 'nobody,x\n' : `${emailOf(n)},${n}\n`))
  const { import_id, counts } = await importText(`email,turn\n${rows.join('')}`)
  const sound = numbers.filter((n) => !isFailed(n))
  const created = new Set(sound.map(emailOf)).size
  const failed = numbers.length - sound.length
  expect(counts).toEqual({ created, updated: sound.length - created, unchanged: 0, failed })
  const { body } = await tenant.call('GET', `/v1/imports/${import_id}/failed.csv`)
  const lines = body.trimEnd().split('\r\n').slice(1)
  expect(lines.map((line: string) => Number(line.split(',')[0]))).toEqual(numbers.filter(isFailed).map((n) => n + 1))
})

test('of more rows of one contact than fit into a transaction, the last one wins', async () => {
  const rows = Array.from({ length: 5_500 }, (_, n) => `${n},ada@example.com,${n}\n`).join('')
  const { counts } = await importText(`external_id,email,turn\n${rows}`)
  expect(counts).toEqual({ created: 1, updated: 5_499, unchanged: 0, failed: 0 })
  const { contacts } = (await tenant.call('GET', '/v1/contacts?limit=100')).body
  expect(contacts).toMatchObject([{ properties: { turn: '5499' } }])
})

test('of two rows of one contact, the later one wins, and both are `updated` if one of them changes the contact', async () => {
  const content = (city: string) => `email,city\nada@example.com,Rome\nada@example.com,${city}\n`
  const other = { unchanged: 0, failed: 0 }
  expect((await importText(content('Oslo'))).counts).toEqual({ created: 1, updated: 1, ...other })
  expect((await importText(content('Bonn'))).counts).toEqual({ created: 0, updated: 2, ...other })
  expect((await everything()).details[0].contact.properties.city).toBe('Bonn')
})

test('of two rows of one contact, an opt-out in the first counts, whatever the second says', async () => {
  await importText('email,Email Opt Out,city\nada@example.com,true,Rome\nada@example.com,false,Oslo\n')
  expect(await ada()).toMatchObject({ properties: { city: 'Oslo' }, consent: { property: 'Email Opt Out' } })
  await importText('email,Email Opt Out,city\nada@example.com,false,Rome\nada@example.com,false,Oslo\n')
  expect(await ada()).toMatchObject({ consent: null })
})

test('importing a file again overwrites changes made since by another source', async () => {
  const content = 'email,city\nada@example.com,Rome\nada@example.com,Oslo\n'
  await importText(content)
  const [{ contact }] = (await everything()).details
  await tenant.call('PUT', `/v1/contacts/${contact.contact_id}`, { properties: { city: 'Paris' } })
  expect((await importText(content)).counts).toMatchObject({ updated: 2, failed: 0 })
  expect((await everything()).details[0].contact.properties.city).toBe('Oslo')
})

test('two records of one contact are unchanged when a source sends them again', async () => {
  const records = [
    { external_id: '1', email: 'ada@example.com', properties: { city: 'Rome' }, raw: { row: 1 } },
    { external_id: '1', properties: { city: 'Oslo' }, raw: { row: 2 } },
  ]
  const push = async () => {
    const { body } = await tenant.call('POST', '/v1/sources/crm/contacts', { records })
    return body.results.map(({ status }: { status: string }) => status)
  }
  expect(await push()).toEqual(['created', 'updated'])
  const [{ contact }] = (await everything()).details
  expect(await push()).toEqual(['unchanged', 'unchanged'])
  const after = await everything()
  expect(after.details[0].contact).toEqual(contact)
  expect(after.changes).toBe(1)
})
