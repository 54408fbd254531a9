import { beforeAll, describe, expect, test } from 'vitest'
import { callMcp } from '../../../test/mcp.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const records = Array.from({ length: 60 }, (_, index) => ({
    email: `person${index}@elsewhere.example`,
    properties: {
      firstname: 'Grace',
      location: index % 2 === 0 ? 'Warehouse north' : 'Warehouse south',
      backup_contact: `friend${index}@private.example`,
      address_atSea: `Wibble ${index}`,
      card: `https://www.linkedin.com/in/grace-${index}`,
      salary: 40_000 + index,
      email_opt_in: index % 3 === 0,
      phone_calls: index,
      plan: `plan ${index % 7}`,
      billing_street: `Wibble ${index}`,
    },
  }))
  for (const record of records) await tenant.contact(record.email, record.properties)
  await tenant.contact('ada@elsewhere.example', { firstname: 'Ada', lastname: 'Lovelace', introduced: 'Ada Lovelace' })
  await tenant.call('POST', '/v1/companies', {
    domain: 'engines.example',
    properties: { boss: 'ada@elsewhere.example' },
  })
  const events = Array.from({ length: 40 }, (_, index) => ({
    event: 'signup',
    email: 'ada@elsewhere.example',
    data: { handle: 'door', reply: `person${index}@elsewhere.example`, step: index },
  }))
  expect((await tenant.call('POST', '/v1/events', { events })).status).toBe(200)
})

/** By name, what is said about each property. */
async function listed(entity = 'contacts', of = tenant): Promise<Record<string, { proposal: unknown }>> {
  const { status, body } = await of.call('GET', `/v1/personal-properties?entity=${entity}`)
  expect(status).toBe(200)
  return Object.fromEntries(body.properties.map(({ name, ...rest }: { name: string }) => [name, rest]))
}

describe('GET /v1/personal-properties', () => {
  test('says which properties of contacts are hidden, who decided it, and what to change by names and values', async () => {
    const hidden = { is_hidden: true, decided_by: 'name', proposal: null }
    const shown = { is_hidden: false, decided_by: null, proposal: null }
    expect(await listed()).toEqual({
      firstname: { is_hidden: true, decided_by: 'service', proposal: null },
      lastname: { is_hidden: true, decided_by: 'service', proposal: null },
      location: {
        ...hidden,
        proposal: { change: 'show', because: 'few_values', values: 20, personal_values: 0 },
      },
      backup_contact: {
        ...shown,
        proposal: { change: 'hide', because: 'values', values: 20, personal_values: 20 },
      },
      card: { ...shown, proposal: { change: 'hide', because: 'values', values: 20, personal_values: 20 } },
      introduced: { ...shown, proposal: { change: 'hide', because: 'values', values: 1, personal_values: 1 } },
      address_atSea: {
        ...shown,
        proposal: { change: 'hide', because: 'name', values: 20, personal_values: 0 },
      },
      salary: { ...shown, proposal: { change: 'hide', because: 'name', values: 20, personal_values: 0 } },
      email_opt_in: shown,
      phone_calls: shown,
      plan: shown,
      billing_street: hidden,
    })
  })

  test('of companies and of fields of events', async () => {
    expect(await listed('companies')).toMatchObject({
      boss: { is_hidden: false, proposal: { change: 'hide', because: 'values' } },
    })
    expect(await listed('events')).toEqual({
      handle: {
        is_hidden: true,
        decided_by: 'name',
        proposal: { change: 'show', because: 'few_values', values: 20, personal_values: 0 },
      },
      reply: {
        is_hidden: false,
        decided_by: null,
        proposal: { change: 'hide', because: 'values', values: 20, personal_values: 20 },
      },
      step: { is_hidden: false, decided_by: null, proposal: null },
    })
  })

  test('needs settings:read and the scope of the entity, and shows nothing to another tenant', async () => {
    for (const [entity, scope] of [
      ['contacts', 'companies:read'],
      ['companies', 'events:read'],
      ['events', 'contacts:read'],
    ] as const) {
      const key = await tenant.keyWith('settings:read', scope)
      const { status, body } = await tenant.call('GET', `/v1/personal-properties?entity=${entity}`, undefined, key)
      expect([status, body.error.code]).toEqual([403, 'insufficient_scope'])
    }
    const unknown = await tenant.call('GET', '/v1/personal-properties?entity=segments')
    expect([unknown.status, unknown.body.error.code]).toEqual([400, 'validation_error'])
    const withoutSettings = await tenant.keyWith('contacts:read')
    expect((await tenant.call('GET', '/v1/personal-properties', undefined, withoutSettings)).status).toBe(403)
    expect(await listed('contacts', await createTestTenant(service))).toEqual({})
  })
})

describe('what the tenant says about its properties', () => {
  // biome-ignore lint/suspicious/noExplicitAny: results of every shape
  const contact = async (of: TestTenant, contact_id: string): Promise<any> => {
    const call = { name: 'get_contact', arguments: { contact_id } }
    return (await callMcp(service, of.key, 'tools/call', call)).body.result.structuredContent.contact.properties
  }

  test('hides and shows them to AI agents, and ends the proposals; values that are personal by their form stay hidden', async () => {
    const own = await createTestTenant(service)
    const id = await own.contact('ada@example.com', {
      firstname: 'Ada',
      lastname: 'Lovelace',
      location: 'Gate 7',
      handle: 'ask Ada Lovelace at ada@example.com or +49 171 5550123',
      salary: 41_000,
    })
    const before = await contact(own, id)
    expect([before.location, before.salary]).toEqual([expect.stringMatching(/^address:/), 41_000])
    const set = await own.call('PATCH', '/v1/tenant', {
      personal_properties: ['Salary'],
      visible_properties: ['Location', 'handle'],
    })
    expect([set.status, set.body.visible_properties]).toEqual([200, { added: ['Location', 'handle'], removed: [] }])
    const after = await contact(own, id)
    expect(after).toMatchObject({
      location: 'Gate 7',
      salary: expect.stringMatching(/^value:/),
      handle: expect.stringMatching(`^ask name:${id} at email:${id} or phone:`),
      firstname: `firstname:${id}`,
    })
    expect(await listed('contacts', own)).toMatchObject({
      location: { is_hidden: false, decided_by: 'workspace', proposal: null },
      salary: { is_hidden: true, decided_by: 'workspace', proposal: null },
    })
    // Comparisons follow: parts of a visible property, whole values of a hidden one.
    const find = async (property: string, operator: string, value: unknown) => {
      const filter = { match: 'all', conditions: [{ property, operator, value }] }
      const call = { name: 'search_contacts', arguments: { filter } }
      const { result } = (await callMcp(service, own.key, 'tools/call', call)).body
      return result.isError ? result.content[0].text.split(':')[0] : result.structuredContent.total
    }
    expect(await find('location', 'contains', 'Gate')).toBe(1)
    expect(await find('salary', 'gt', 40_000)).toBe('hidden_property')
  })

  test('a name that joins one list leaves the other', async () => {
    const own = await createTestTenant(service)
    const set = (body: object) => own.call('PATCH', '/v1/tenant', body)
    await set({ visible_properties: ['Home Town', 'handle'] })
    const { body } = await set({ personal_properties: ['hometown'] })
    expect(body).toMatchObject({
      tenant: { personal_properties: ['hometown'], visible_properties: ['handle'] },
      personal_properties: { added: ['hometown'], removed: [] },
      visible_properties: { added: [], removed: ['Home Town'] },
    })
    const back = await set({ visible_properties: ['handle', 'Hometown'] })
    expect(back.body.tenant).toMatchObject({ personal_properties: [], visible_properties: ['handle', 'Hometown'] })
    const { entries } = (await own.call('GET', '/v1/audit-log?subject_kind=tenant')).body
    expect(entries[0].details).toEqual({
      personal_properties: { added: [], removed: ['hometown'] },
      visible_properties: { added: ['Hometown'], removed: [] },
    })
  })

  test.each(['email', 'E-Mail', 'First Name', 'phone', 'city', 'name'])(
    '%s is hidden in every workspace',
    async (name) => {
      const { status, body } = await tenant.call('PATCH', '/v1/tenant', { visible_properties: ['plan', name] })
      expect([status, body.error.code, body.error.details[0].path]).toEqual([
        400,
        'validation_error',
        'visible_properties[1]',
      ])
    },
  )

  test('a name in both lists is refused', async () => {
    const lists = { personal_properties: ['Home Town'], visible_properties: ['hometown'] }
    const { status, body } = await tenant.call('PATCH', '/v1/tenant', lists)
    expect([status, body.error.details[0].path]).toEqual([400, 'visible_properties[0]'])
    expect((await tenant.call('GET', '/v1/tenant')).body.tenant.personal_properties).toEqual([])
  })
})
