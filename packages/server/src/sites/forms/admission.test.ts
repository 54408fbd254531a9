import { expect, test } from 'vitest'
import { NONE_IGNORED, toIgnoredIds } from '../../platform/ids-of-nobody.ts'
import { personsNamed, requirePageOfForm } from './admission.ts'

const TENANT = '018f0000-0000-7000-8000-000000000001'
const find = async (host: string) => (host === 'example.com' ? TENANT : null)

test('a form is submitted only from a page of the tenant that the path names', async () => {
  const page = { origin: 'https://example.com' }
  expect(await requirePageOfForm(page, TENANT.toUpperCase(), find)).toBe(TENANT)
  for (const [headers, tenant] of [
    [page, '018f0000-0000-7000-8000-000000000002'],
    [{ origin: 'https://elsewhere.example' }, TENANT],
    [{}, TENANT],
  ] as const) {
    await expect(requirePageOfForm(headers, tenant, find)).rejects.toMatchObject({ code: 'domain_not_allowed' })
  }
})

test('a body of any form names the people whose submissions are counted', () => {
  expect(
    personsNamed({ visitor_id: 'v1', contact_data: { Email: ' Ada@Example.com ', city: 'Wien' } }, NONE_IGNORED),
  ).toEqual(['visitor v1', 'email ada@example.com'])
  for (const body of [undefined, null, 7, { visitor_id: ' ', contact_data: null }, { contact_data: { email: 7 } }]) {
    expect(personsNamed(body, NONE_IGNORED)).toEqual([])
  }
})

test('an id that names nobody does not count as a person, because everyone who sends it would share one limit', () => {
  const ignored = toIgnoredIds(['demo'])
  for (const visitor_id of ['undefined', ' NULL ', '{{visitor}}', 'Demo']) {
    expect(personsNamed({ visitor_id, contact_data: { email: 'a@example.com' } }, ignored)).toEqual([
      'email a@example.com',
    ])
  }
})
