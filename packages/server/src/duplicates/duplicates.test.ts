import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'
import { checkSome } from './find.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const list = async (query = '') => (await tenant.call('GET', `/v1/duplicates${query}`)).body

/** The pairs, once every change has been looked at. */
async function found() {
  // The workers do the same every two seconds: see precision.test.ts.
  await checkSome(tenant.handle, new Date())
  expect(await tenant.handle.db.selectFrom('duplicate_checks').select('check_id').execute()).toEqual([])
  return (await list()).duplicates
}

const ada = () => tenant.contact('ada.lovelace@gmail.com', { firstname: 'Ada', lastname: 'Lovelace', city: 'London' })
const adaAgain = () => tenant.contact('adalovelace+news@googlemail.com', { firstname: 'Ada' })

test('a pair says why, and has what a person compares; the likeliest is first', async () => {
  const [first, second] = [await ada(), await adaAgain()]
  const [one, other] = [
    await tenant.contact('grace@example.com', { firstname: 'Grace', lastname: 'Hopper', phone: '+44 20 7946 0958' }),
    await tenant.contact('alan@example.org', { firstname: 'Alan', lastname: 'Turing', mobile: '(020) 79460958' }),
  ]
  expect(await found()).toMatchObject([
    {
      confidence: 0.95,
      reasons: [{ code: 'same_address', text: 'The email addresses differ only in dots or plus tags.' }],
      contacts: [
        { contact_id: first, properties: { email: 'ada.lovelace@gmail.com', city: 'London' } },
        { contact_id: second, properties: { email: 'adalovelace+news@googlemail.com', firstname: 'Ada' } },
      ],
    },
    { confidence: 0.5, reasons: [{ code: 'shared_phone' }], contacts: [{ contact_id: one }, { contact_id: other }] },
  ])
  expect(await list('?limit=1&page=2')).toMatchObject({
    duplicates: [{ confidence: 0.5 }],
    pagination: { page: 2, limit: 1, total_items: 2 },
  })
})

describe('two contacts', () => {
  const SAME: [string, object, object, string][] = [
    [
      'with one profile',
      { linkedin_url: 'https://www.linkedin.com/in/ada/' },
      { linkedin_url: 'de.linkedin.com/in/Ada?x=1' },
      'same_profile',
    ],
    ['with one handle', { twitter: '@ada' }, { twitter_url: 'https://twitter.com/Ada' }, 'same_profile'],
    [
      'with one phone and one name',
      { firstname: 'Ada', lastname: 'King', phone: '+1 (212) 555-0199' },
      { firstname: 'Ada', lastname: 'King', phone: '2125550199' },
      'same_phone',
    ],
    [
      'with one name at one company',
      { firstname: 'Zoë', lastname: 'Müller', company: 'Acme GmbH' },
      { firstname: 'Zoe', lastname: 'MULLER', company: 'acme' },
      'same_name_at_company',
    ],
    [
      'with a short form at one company',
      { firstname: 'Bob', lastname: 'Noyce', company: 'Acme' },
      { firstname: 'Robert', lastname: 'Noyce', company: 'Acme' },
      'similar_name_at_company',
    ],
    [
      'with a typo at one company',
      { firstname: 'Alan', lastname: 'Winterbottom', company: 'Acme' },
      { firstname: 'Alan', lastname: 'Wintrebottom', company: 'Acme' },
      'similar_name_at_company',
    ],
  ]
  test.each(SAME)('%s are a pair', async (_what, one, other, code) => {
    await tenant.contact('one@example.com', { ...one })
    await tenant.contact('two@example.org', { ...other })
    const pairs = await found()
    expect(pairs).toMatchObject([{ reasons: [{ code }] }])
    expect(pairs[0].confidence).toBeGreaterThanOrEqual(0.8)
  })

  const OTHERS: [string, [string, object], [string, object]][] = [
    ['who read a shared mailbox', ['info+a@acme.example', {}], ['info+b@acme.example', {}]],
    ['with dots where they count', ['ada.king@acme.example', {}], ['adaking@acme.example', {}]],
    [
      'who are twins',
      ['a@gmail.com', { firstname: 'Martin', lastname: 'King', company: 'Acme', phone: '+12125550199' }],
      ['b@gmail.com', { firstname: 'Martina', lastname: 'King', company: 'Acme', phone: '+12125550199' }],
    ],
    [
      'whose company has one profile',
      ['a@gmail.com', { linkedin_url: 'https://linkedin.com/company/acme' }],
      ['b@gmail.com', { linkedin_url: 'https://linkedin.com/company/acme' }],
    ],
    [
      'of one name whom their company numbers',
      ['wei.zhang@acme.example', { firstname: 'Wei', lastname: 'Zhang' }],
      ['wei.zhang2@acme.example', { firstname: 'Wei', lastname: 'Zhang' }],
    ],
    [
      'of one name at two companies',
      ['a@gmail.com', { firstname: 'Wei', lastname: 'Zhang', company: 'Acme' }],
      ['b@gmail.com', { firstname: 'Wei', lastname: 'Zhang', company: 'Globex' }],
    ],
    ['with a phone that is none', ['a@gmail.com', { phone: '0000000000' }], ['b@gmail.com', { phone: '0000000000' }]],
    [
      'with values of no use',
      ['a@gmail.com', { phone: 'call me', linkedin_url: 'https://%', name: 'x'.repeat(60_000) }],
      ['b@gmail.com', { phone: 'call me', linkedin_url: 'https://%', name: 'x'.repeat(60_000) }],
    ],
  ]
  test.each(OTHERS)('%s are none', async (_what, one, other) => {
    await tenant.contact(one[0], { ...one[1] })
    await tenant.contact(other[0], { ...other[1] })
    expect(await found()).toEqual([])
  })
})

test('min_confidence leaves out the less likely ones', async () => {
  await ada()
  await adaAgain()
  await tenant.contact('grace@example.com', { firstname: 'Grace', lastname: 'Hopper', phone: '+44 20 7946 0958' })
  await tenant.contact('alan@example.org', { firstname: 'Alan', lastname: 'Turing', phone: '+44 20 7946 0958' })
  await found()
  const confidences = async (query: string) => {
    const { duplicates, pagination } = await list(query)
    const all = duplicates.map(({ confidence }: { confidence: number }) => confidence)
    expect(pagination.total_items).toBe(all.length)
    return all
  }
  expect(await confidences('')).toEqual([0.95, 0.5])
  expect(await confidences('?min_confidence=0.5')).toEqual([0.95, 0.5])
  expect(await confidences('?min_confidence=0.8')).toEqual([0.95])
  expect(await confidences('?min_confidence=1')).toEqual([])
  for (const wrong of ['-0.1', '1.1', 'high']) {
    expect((await tenant.call('GET', `/v1/duplicates?min_confidence=${wrong}`)).status).toBe(400)
  }
})

test('a change makes a pair, keeps its id, and ends it', async () => {
  const one = await tenant.contact('one@example.com', { phone: '+442079460958' })
  const other = await tenant.contact('two@example.org', {})
  expect(await found()).toEqual([])
  await tenant.call('PUT', `/v1/contacts/${other}`, { properties: { mobile: '020 7946 0958' } })
  const [pair] = await found()
  expect(pair.confidence).toBe(0.7)
  await tenant.call('PUT', `/v1/contacts/${other}`, { properties: { linkedin_url: 'https://linkedin.com/in/ada' } })
  await tenant.call('PUT', `/v1/contacts/${one}`, { properties: { linkedin_url: 'https://linkedin.com/in/ada' } })
  expect(await found()).toMatchObject([{ duplicate_id: pair.duplicate_id, confidence: 0.99 }])
  await tenant.call('PUT', `/v1/contacts/${other}`, { properties: { mobile: null, linkedin_url: null } })
  expect(await found()).toEqual([])
})

test('a merge takes the pair away, and its undoing brings it back', async () => {
  const [first, second] = [await ada(), await adaAgain()]
  expect(await found()).toHaveLength(1)
  expect((await tenant.call('POST', `/v1/contacts/${second}/merge`, { into: first })).status).toBe(200)
  expect(await found()).toEqual([])
  expect((await tenant.call('POST', `/v1/contacts/${second}/unmerge`)).status).toBe(200)
  expect(await found()).toHaveLength(1)
})

describe('a dismissed pair', () => {
  const dismiss = (id: string) => tenant.call('POST', `/v1/duplicates/${id}/dismiss`)

  test('stays dismissed when a contact changes, or is merged and unmerged', async () => {
    const [first, second] = [await ada(), await adaAgain()]
    const [pair] = await found()
    const { status, body } = await dismiss(pair.duplicate_id)
    expect([status, body]).toEqual([200, { status: 'success', dismissed: true, duplicate_id: pair.duplicate_id }])
    await tenant.call('PUT', `/v1/contacts/${second}`, { properties: { lastname: 'Lovelace' } })
    expect(await found()).toEqual([])
    // Its survivor has the address, and is not the same person either.
    const survivor = await tenant.contact('survivor@example.com', {})
    await tenant.call('POST', `/v1/contacts/${second}/merge`, { into: survivor })
    await tenant.call('PUT', `/v1/contacts/${survivor}`, { properties: { email: 'ada.love.lace@gmail.com' } })
    expect(await found()).toEqual([])
    await tenant.call('PUT', `/v1/contacts/${survivor}`, { properties: { email: 'survivor@example.com' } })
    expect((await tenant.call('POST', `/v1/contacts/${second}/unmerge`)).status).toBe(200)
    await tenant.call('PUT', `/v1/contacts/${first}`, { properties: { lastname: 'King' } })
    expect(await found()).toEqual([])
    const { entries } = (await tenant.call('GET', '/v1/audit-log?limit=10')).body
    expect(entries).toContainEqual(expect.objectContaining({ action: 'duplicate.dismissed' }))
  })

  test('is gone for good, and another tenant or an unknown id is 404', async () => {
    await ada()
    await adaAgain()
    const [{ duplicate_id: id }] = await found()
    const stranger = await createTestTenant(service)
    expect((await stranger.call('POST', `/v1/duplicates/${id}/dismiss`)).status).toBe(404)
    expect((await stranger.call('GET', '/v1/duplicates')).body.duplicates).toEqual([])
    expect((await dismiss(newId())).status).toBe(404)
    expect((await dismiss(id)).status).toBe(200)
    expect((await dismiss(id)).status).toBe(404)
  })
})
