import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestTenant } from '../../test/service.ts'

/** Changing a contact or a company needs another scope than reading it. */

let tenant: TestTenant
let writer: string
let companyId: string
let contactId: string

beforeAll(async () => {
  tenant = await createTestTenant(await sharedService())
  writer = await tenant.keyWith('contacts:write', 'companies:write')
  const company = { domain: 'engines.example', name: 'Engines', properties: { industry: 'Computing' } }
  companyId = (await tenant.call('POST', '/v1/companies', company)).body.company.company_id
  contactId = await tenant.contact(
    'ada@example.com',
    { firstname: 'Ada', unsubscribed: true },
    { company_id: companyId },
  )
  await tenant.call('POST', `/v1/contacts/${contactId}/notes`, { content: 'A note.' })
})

test('without contacts:read, a changed contact has what was sent, and no ETag', async () => {
  const sent = { properties: { lastname: 'Lovelace', firstname: '  ', city: null } }
  const { status, body, headers } = await tenant.call('PUT', `/v1/contacts/${contactId}`, sent, writer)
  expect(status).toBe(200)
  expect(body.contact).toMatchObject({
    contact_id: contactId,
    is_partial: true,
    consent: null,
    company_id: null,
    associations: { companies: [] },
    segment_ids: [],
    notes: [],
  })
  expect(body.contact.properties).not.toHaveProperty('email')
  expect(body.contact.properties).toMatchObject({ lastname: 'Lovelace' })
  expect(headers.get('etag')).toBeNull()
})

test('with contacts:read, it is whole', async () => {
  const key = await tenant.keyWith('contacts:read', 'contacts:write')
  const { body, headers } = await tenant.call('PUT', `/v1/contacts/${contactId}`, {}, key)
  expect(body.contact).toMatchObject({ properties: { email: 'ada@example.com' }, company_id: companyId })
  expect(body.contact).not.toHaveProperty('is_partial')
  expect(headers.get('etag')).not.toBeNull()
})

test('without contacts:read, merged and unmerged contacts have no properties', async () => {
  const other = await tenant.contact('grace@example.com', { firstname: 'Grace' })
  for (const [path, sent] of [['merge', { into: contactId }], ['unmerge']] as const) {
    const { status, body } = await tenant.call('POST', `/v1/contacts/${other}/${path}`, sent, writer)
    expect([status, body.contact.properties, body.contact.is_partial]).toEqual([200, {}, true])
  }
})

test('without companies:read, a changed company has what was sent, and no ETag', async () => {
  const sent = { name: 'Engines', properties: { city: 'London' } }
  const { status, body, headers } = await tenant.call('PUT', `/v1/companies/${companyId}`, sent, writer)
  expect(status).toBe(200)
  expect(body.company).toMatchObject({
    name: 'Engines',
    domain: null,
    properties: { city: 'London' },
    is_partial: true,
  })
  expect(body.company.properties).not.toHaveProperty('industry')
  expect(headers.get('etag')).toBeNull()
  const key = await tenant.keyWith('companies:read', 'companies:write')
  const whole = await tenant.call('PUT', `/v1/companies/${companyId}`, {}, key)
  expect(whole.body.company).toMatchObject({ domain: 'engines.example', properties: { industry: 'Computing' } })
  expect(whole.headers.get('etag')).not.toBeNull()
})
