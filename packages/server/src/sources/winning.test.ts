import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant
let contactId: string

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  contactId = await tenant.contact('ada@example.com')
})

/** Days of a past year, so that writes by hand are always newer. */
const DAY = (day: number) => `2026-01-${String(day).padStart(2, '0')}T00:00:00.000Z`

/** Pushes one record of the contact. @returns its status. */
async function push(source: string, properties: object, updated_at?: string, more: object = {}): Promise<string> {
  const record = {
    external_id: `${source}-1`,
    email: 'ada@example.com',
    properties,
    ...(updated_at ? { updated_at } : {}),
  }
  const { body } = await tenant.call('POST', `/v1/sources/${source}/contacts`, { records: [record], ...more })
  expect(body.results[0]).toMatchObject({ contact_id: contactId })
  return body.results[0].status
}

const enrich = (source: string, properties: object, updated_at?: string) =>
  push(source, properties, updated_at, { kind: 'enrichment' })

async function put(properties: object): Promise<void> {
  expect((await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties })).status).toBe(200)
}

async function read() {
  const path = `/v1/contacts/${contactId}?include=provenance&include_events=false`
  const { contact, unified_profile } = (await tenant.call('GET', path)).body
  return { ...contact, properties: contact.properties, provenance: contact.properties_provenance, unified_profile }
}

const city = async () => (await read()).properties.city

describe('the latest write wins', () => {
  test("by the sources' timestamps, in any order of arrival", async () => {
    expect(await push('b', { city: 'Oslo' }, DAY(2))).toBe('updated')
    expect(await push('a', { city: 'Rome' }, DAY(1))).toBe('updated')
    const { properties, provenance, unified_profile } = await read()
    expect(properties.city).toBe('Oslo')
    expect(provenance.city).toEqual({ source: 'b', updated_at: DAY(2) })
    expect(unified_profile.profile.city).toEqual({
      unique_values: [
        { value: 'Oslo', sources: [{ source: 'b', updated_at: DAY(2) }] },
        { value: 'Rome', sources: [{ source: 'a', updated_at: DAY(1) }] },
      ],
      all_sources: ['b', 'a'],
      has_conflict: true,
    })
    expect(unified_profile.sources.a.updated_at).toBe(DAY(1))
    expect(await push('a', { city: 'Rome' }, DAY(3))).toBe('updated')
    expect((await read()).provenance.city).toEqual({ source: 'a', updated_at: DAY(3) })
    // A write without a time is the newest.
    await push('b', { city: 'Bergen' })
    expect(await city()).toBe('Bergen')
  })

  test('also against writes by hand: an older push loses, a newer one wins', async () => {
    await put({ city: 'Paris' })
    expect(await push('crm', { city: 'Rome', country: 'Italy' }, DAY(1))).toBe('updated')
    expect((await read()).properties).toMatchObject({ city: 'Paris', country: 'Italy' })
    await push('crm', { city: 'Milan' })
    expect(await city()).toBe('Milan')
    await put({ city: 'Paris' })
    expect(await city()).toBe('Paris')
  })

  test('a value that another source has since confirmed is not replaced by a write between the two', async () => {
    await push('a', { city: 'Rome' }, DAY(1))
    await push('b', { city: 'Rome' }, DAY(3))
    await push('c', { city: 'Oslo' }, DAY(2))
    expect(await city()).toBe('Rome')
    expect((await read()).unified_profile.profile.city.unique_values).toHaveLength(2)
  })

  test("a push older than its source's record is ignored as a whole", async () => {
    await push('crm', { city: 'Rome' }, DAY(5))
    const before = await read()
    expect(await push('crm', { city: 'Oslo', country: 'Norway' }, DAY(4))).toBe('unchanged')
    expect(await read()).toEqual(before)
    expect(await push('crm', { city: 'Oslo' }, DAY(5))).toBe('updated')
    expect(await city()).toBe('Oslo')
  })

  test('a time in the future counts as now', async () => {
    await push('crm', { city: 'Rome' }, '2999-01-01T00:00:00Z')
    const { provenance, unified_profile } = await read()
    expect(Date.parse(provenance.city.updated_at)).toBeLessThanOrEqual(Date.now())
    expect(Date.parse(unified_profile.sources.crm.updated_at)).toBeLessThanOrEqual(Date.now())
    await put({ city: 'Oslo' })
    expect(await city()).toBe('Oslo')
  })
})

describe('null', () => {
  test("removes the source's value; the newest value of another source replaces it", async () => {
    await push('a', { city: 'Rome' }, DAY(1))
    await push('b', { city: 'Oslo' }, DAY(2))
    await push('c', { city: 'Paris' }, DAY(3))
    expect(await push('c', { city: null }, DAY(4))).toBe('updated')
    const { properties, provenance, unified_profile } = await read()
    expect([properties.city, provenance.city]).toEqual(['Oslo', { source: 'b', updated_at: DAY(2) }])
    expect(unified_profile.profile.city.all_sources).toEqual(['a', 'b'])
    // Removing a value that does not win leaves the contact unchanged.
    await push('a', { city: null }, DAY(5))
    expect(await city()).toBe('Oslo')
    await push('b', { city: null }, DAY(5))
    const after = await read()
    expect(after.properties).not.toHaveProperty('city')
    expect(after.provenance).not.toHaveProperty('city')
    expect(after.unified_profile.profile).not.toHaveProperty('city')
    expect(await push('b', { city: null }, DAY(6))).toBe('unchanged')
  })

  test('an equal value of another source remains, and is attributed to that source', async () => {
    await push('a', { city: 'Rome' }, DAY(1))
    await push('b', { city: 'Rome' }, DAY(2))
    expect((await read()).provenance.city.source).toBe('a')
    await push('a', { city: null }, DAY(3))
    const { properties, provenance } = await read()
    expect([properties.city, provenance.city]).toEqual(['Rome', { source: 'b', updated_at: DAY(2) }])
  })

  test('by hand, it removes the key, whichever source wrote it', async () => {
    await push('a', { city: 'Rome' })
    await put({ city: null })
    const { properties, unified_profile } = await read()
    expect(properties).not.toHaveProperty('city')
    expect(unified_profile.profile.city.all_sources).toEqual(['a'])
  })
})

describe('an enrichment source', () => {
  test('fills only blanks, updates the values it filled, and marks the contact as enriched', async () => {
    await put({ city: 'Paris', industry: '' })
    const before = await read()
    expect(before.unified_profile.enriched_at).toBeNull()
    expect(await enrich('clear', { city: 'Lyon', jobtitle: 'Engineer', industry: 'Steel' })).toBe('updated')
    const { properties, provenance, unified_profile } = await read()
    expect(properties).toMatchObject({ city: 'Paris', jobtitle: 'Engineer', industry: 'Steel' })
    expect(provenance.jobtitle.source).toBe('clear')
    expect(unified_profile.profile.city.has_conflict).toBe(true)
    expect(unified_profile.sources.clear).toMatchObject({ enriched_at: expect.any(String) })
    expect(unified_profile.sources.clear).not.toHaveProperty('synced_at')
    expect(unified_profile.enriched_at).not.toBeNull()
    const listed = await tenant.call('GET', '/v1/contacts?status=enriched&count_only=true')
    expect(listed.body.count).toBe(1)
    await enrich('clear', { jobtitle: 'Admiral' })
    expect((await read()).properties.jobtitle).toBe('Admiral')
    // For other enrichment sources, it is no longer blank.
    await enrich('other', { jobtitle: 'Captain' })
    expect((await read()).properties.jobtitle).toBe('Admiral')
  })

  test('is overridden by every other source, however old its record is', async () => {
    await enrich('clear', { city: 'Lyon', country: 'France' }, DAY(9))
    expect(await push('crm', { city: 'Rome', country: 'France' }, DAY(1))).toBe('updated')
    expect((await read()).properties.city).toBe('Rome')
    // An equal value is attributed to the CRM.
    await enrich('clear', { city: 'Nice', country: 'Spain' }, DAY(10))
    expect((await read()).properties).toMatchObject({ city: 'Rome', country: 'France' })
    await push('crm', { city: null }, DAY(2))
    const { properties, provenance } = await read()
    expect([properties.city, provenance.city.source]).toEqual(['Nice', 'clear'])
  })

  test('keeps its kind if a later push omits it, and a push without changes is `unchanged`', async () => {
    await put({ city: 'Paris' })
    await enrich('clear', { city: 'Lyon' })
    expect(await push('clear', { city: 'Lyon' })).toBe('unchanged')
    expect(await push('clear', { city: 'Nice' })).toBe('updated')
    expect(await city()).toBe('Paris')
    await push('clear', { city: 'Nice' }, undefined, { kind: 'crm' })
    expect(await city()).toBe('Nice')
  })
})

test('first-touch values are not overwritten by a source', async () => {
  await push('a', { first_utm_source: 'newsletter' })
  await push('b', { first_utm_source: 'ads' })
  await push('a', { first_utm_source: null })
  expect((await read()).properties.first_utm_source).toBe('newsletter')
  await put({ first_utm_source: 'by hand' })
  expect((await read()).properties.first_utm_source).toBe('by hand')
})

test('names of inherited object properties are ordinary keys', async () => {
  await enrich('clear', { constructor: 'Ford', toString: 'text', hasOwnProperty: 'yes' })
  expect((await read()).properties).toMatchObject({ constructor: 'Ford', toString: 'text', hasOwnProperty: 'yes' })
  expect(await enrich('clear', { valueOf: null })).toBe('unchanged')
})
