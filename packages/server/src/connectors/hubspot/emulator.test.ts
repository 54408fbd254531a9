import { Agent } from 'node:https'
import { Client } from '@hubspot/api-client'
import { FilterOperatorEnum } from '@hubspot/api-client/lib/codegen/crm/contacts/index.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type HubSpot, startHubSpot, TOKEN, tooMany } from '../../../test/hubspot.ts'
import { makeCertificate } from '../../../test/receiver.ts'

/** Checks the HubSpot of the other tests with HubSpot's own client, used as in its documentation. */
let hubspot: HubSpot
let client: Client
let agent: Agent
const certificate = makeCertificate()

beforeAll(async () => {
  agent = new Agent({ ca: certificate.certificate, keepAlive: false })
})
afterAll(() => agent.destroy())
beforeEach(async () => {
  hubspot = await startHubSpot(certificate)
  client = new Client({ accessToken: TOKEN, basePath: hubspot.url, httpAgent: agent, numberOfApiCallRetries: 3 })
  return () => hubspot.close()
})

function contacts(count: number): string[] {
  return Array.from({ length: count }, (_, n) =>
    hubspot.records.create('contacts', { email: `p${n}@example.com`, firstname: `Person ${n}` }),
  )
}

describe("HubSpot's own client", () => {
  test('lists contacts, page by page', async () => {
    contacts(250)
    const all = await client.crm.contacts.getAll(100, undefined, ['firstname', 'jobtitle'])
    expect(all.map(({ properties }) => properties.firstname)).toEqual(
      Array.from({ length: 250 }, (_, n) => `Person ${n}`),
    )
    expect(all[0]).toMatchObject({ archived: false, createdAt: expect.any(Date), properties: { jobtitle: null } })
    await expect(client.crm.contacts.basicApi.getPage(101)).rejects.toMatchObject({ code: 400 })
  })

  test('searches what changed since a time, up to 10,000 results', async () => {
    const [first = ''] = contacts(3)
    hubspot.records.change('contacts', first, { firstname: 'Changed' }, new Date('2030-01-01'))
    const search = (after?: string) =>
      client.crm.contacts.searchApi.doSearch({
        filterGroups: [
          {
            filters: [
              {
                propertyName: 'lastmodifieddate',
                operator: FilterOperatorEnum.Gte,
                value: String(Date.parse('2029-01-01')),
              },
            ],
          },
        ],
        sorts: ['lastmodifieddate'],
        properties: ['firstname'],
        limit: 200,
        ...(after === undefined ? {} : { after }),
      })
    const { total, results } = await search()
    expect([total, results.map(({ id }) => id)]).toEqual([1, [first]])
    expect(results[0]?.properties.firstname).toBe('Changed')
    await expect(search('9801')).rejects.toMatchObject({ code: 400, body: { category: 'VALIDATION_ERROR' } })
  })

  test('reads, updates and upserts batches, of which single inputs may fail', async () => {
    const [first = ''] = contacts(1)
    const updated = await client.crm.contacts.batchApi.update({
      inputs: [
        { id: first, properties: { jobtitle: 'Countess' } },
        { id: '999999', properties: { jobtitle: 'Nobody' } },
      ],
    })
    expect(updated).toMatchObject({ numErrors: 1, results: [{ id: first, properties: { jobtitle: 'Countess' } }] })
    expect(updated).toMatchObject({ errors: [{ category: 'OBJECT_NOT_FOUND', context: { ids: ['999999'] } }] })
    const upserted = await client.crm.contacts.batchApi.upsert({
      inputs: [
        { id: 'p0@example.com', idProperty: 'email', properties: { city: 'London' }, objectWriteTraceId: 'a' },
        { id: 'new@example.com', idProperty: 'email', properties: { city: 'Paris' }, objectWriteTraceId: 'b' },
        { id: 'no address', idProperty: 'email', properties: { city: 'Rome' }, objectWriteTraceId: 'c' },
      ],
    })
    expect(upserted.results).toMatchObject([
      { id: first, _new: false, properties: { city: 'London' } },
      { _new: true, properties: { city: 'Paris' } },
    ])
    expect(upserted).toMatchObject({
      errors: [{ category: 'VALIDATION_ERROR', context: { objectWriteTraceId: ['c'] } }],
    })
    await expect(
      client.crm.contacts.batchApi.upsert({
        inputs: [{ id: 'p0@example.com', idProperty: 'email', properties: { unknown_property: 'x' } }],
      }),
    ).rejects.toMatchObject({ code: 400, body: { category: 'VALIDATION_ERROR' } })
    const read = await client.crm.contacts.batchApi.read({
      inputs: [{ id: first }],
      properties: ['city'],
      propertiesWithHistory: [],
    })
    expect(read.results).toMatchObject([{ id: first, properties: { city: 'London' } }])
  })

  test('merges and deletes contacts: both ids lead to a new record, and deleted ones are listed separately', async () => {
    const [first = '', second = '', third = ''] = contacts(3)
    const merged = await client.crm.contacts.basicApi.merge({ primaryObjectId: first, objectIdToMerge: second })
    expect([first, second]).not.toContain(merged.id)
    await client.crm.contacts.basicApi.archive(third)
    const left = await client.crm.contacts.basicApi.getPage(10, undefined, ['hs_merged_object_ids'])
    expect(left.results).toMatchObject([{ id: merged.id, properties: { hs_merged_object_ids: `${first};${second}` } }])
    const archived = await client.crm.contacts.basicApi.getPage(10, undefined, undefined, undefined, undefined, true)
    expect(archived.results.find(({ id }) => id === third)).toMatchObject({
      archived: true,
      archivedAt: expect.any(Date),
    })
  })

  test('reads owners, associations, pipelines and properties', async () => {
    hubspot.owners = [{ id: '1', email: 'owner@example.com', firstName: 'Olive', lastName: 'Owner', archived: false }]
    const [contact = ''] = contacts(1)
    const deal = hubspot.records.create('deals', { dealname: 'Engine' })
    hubspot.records.associate(['deals', deal], ['contacts', contact])
    const owners = await client.crm.owners.ownersApi.getPage()
    expect(owners.results).toMatchObject([{ id: '1', firstName: 'Olive', email: 'owner@example.com' }])
    const inputs = [{ id: deal }]
    const { results } = await client.crm.associations.v4.batchApi.getPage('deals', 'contacts', { inputs })
    // The client declares the ids as texts, but they are numbers.
    expect(results.map(({ _from, to }) => [_from.id, to.map(({ toObjectId }) => String(toObjectId))])).toEqual([
      [deal, [contact]],
    ])
    const pipelines = await client.crm.pipelines.pipelinesApi.getAll('deals')
    expect(pipelines.results[0]?.stages.map(({ id }) => id)).toContain('closedwon')
    const properties = await client.crm.properties.coreApi.getAll('contacts')
    expect(properties.results.find(({ name }) => name === 'score')).toMatchObject({ type: 'number' })
  })

  test('understands the limits and the errors', async () => {
    contacts(1)
    const limits = [tooMany('SECONDLY', 'You have reached your secondly limit.'), { status: 502, body: {} }]
    hubspot.intercept = () => limits.shift()
    // The client waits and repeats the request.
    expect((await client.crm.contacts.basicApi.getPage()).results).toHaveLength(1)
    expect(limits).toEqual([])
    hubspot.remainingToday = 0
    await expect(client.crm.contacts.basicApi.getPage()).rejects.toMatchObject({
      code: 429,
      body: { policyName: 'DAILY' },
      headers: { 'x-hubspot-ratelimit-daily-remaining': '0' },
    })
    hubspot.tokens.clear()
    hubspot.remainingToday = 10
    await expect(client.crm.contacts.basicApi.getPage()).rejects.toMatchObject({ code: 401 })
  })
})
