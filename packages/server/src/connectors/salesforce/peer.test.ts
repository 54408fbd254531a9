import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Connection } from '@jsforce/jsforce-node'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { contact, idOf, record, SalesforceOrganization } from '../../../test/salesforce.ts'

let organization: SalesforceOrganization
let server: Server
let url: string

beforeAll(async () => {
  server = createServer(async (incoming, response) => {
    const { pathname, searchParams: query } = new URL(incoming.url ?? '/', 'http://peer')
    const { method = 'GET', headers } = incoming
    const sent = organization.respond({
      method,
      path: pathname,
      query,
      headers,
      body: await text(incoming),
      at: performance.now(),
    })
    const { status = 200, headers: more = {}, body } = sent ?? {}
    response.writeHead(status, { 'content-type': 'application/json;charset=UTF-8', ...more })
    response.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  organization = new SalesforceOrganization()
  organization.accessToken = '00D!access.0'
  organization.refreshToken = 'refresh.0'
  organization.instanceUrl = url
  organization.records.Contact?.push(
    contact(1, { Title: 'Engineer, "first"\nclass' }),
    contact(2, { IsDeleted: true, MasterRecordId: idOf('003', 1) }),
    contact(3, { SystemModstamp: '2026-02-01T00:00:00.000Z' }),
  )
})
afterAll(() => {
  server?.closeAllConnections()
  server?.close()
})

function open(accessToken = organization.accessToken): Connection {
  const oauth2 = { clientId: 'client-1', clientSecret: 'client-secret', loginUrl: url }
  return new Connection({ oauth2, instanceUrl: url, accessToken, refreshToken: 'refresh.0', version: '62.0' })
}

/** Checks the Salesforce of the connector's tests with jsforce, the client that Salesforce maintains. */
describe('the Salesforce of the tests', () => {
  test('serves queries and their next pages to jsforce', async () => {
    organization.pageSize = 1
    const connection = open()
    const first = await connection.query('SELECT Id, Title, Owner.Name FROM Contact ORDER BY SystemModstamp')
    expect(first).toMatchObject({ totalSize: 2, done: false })
    expect(first.records).toMatchObject([
      {
        Id: idOf('003', 1),
        Title: 'Engineer, "first"\nclass',
        Owner: { Name: 'Olga Owner' },
        attributes: { type: 'Contact' },
      },
    ])
    const second = await connection.queryMore(first.nextRecordsUrl ?? '')
    expect(second).toMatchObject({ done: true, records: [{ Id: idOf('003', 3) }] })
    expect(connection.limitInfo).toMatchObject({ apiUsage: { used: 18, limit: 15_000 } })
  })

  test('finds deleted records with queryAll, and describes objects', async () => {
    const connection = open()
    const soql =
      'SELECT Id, MasterRecordId FROM Contact WHERE IsDeleted = true AND SystemModstamp >= 2026-01-01T00:00:00Z'
    const { records } = await connection.query(soql, { scanAll: true })
    expect(records).toMatchObject([{ Id: idOf('003', 2), MasterRecordId: idOf('003', 1) }])
    const { fields } = await connection.describe('Contact')
    expect(fields.find(({ name }) => name === 'Score__c')).toMatchObject({ type: 'double', custom: true })
  })

  test('runs jobs of Bulk API 2.0, and sends their results whole or in parts', async () => {
    organization.pollsOfJobs = 1
    organization.records.Contact?.push(contact(4), contact(5))
    const soql = 'SELECT Id, LastName, Title FROM Contact'
    const stream = await open().bulk2.query(soql, { pollInterval: 10, pollTimeout: 10_000 })
    const records = (await stream.toArray()) as { Id: string; Title: string }[]
    expect(records.map(({ Id }) => Id)).toEqual([1, 3, 4, 5].map((number) => idOf('003', number)))
    expect(records[0]?.Title).toBe('Engineer, "first"\nclass')
    // jsforce writes small parts to a stream that has ended, so a part is requested alone.
    const [job = ''] = organization.jobs.keys()
    const part = await open().request(`/services/data/v62.0/jobs/query/${job}/results?maxRecords=3`)
    expect(part).toMatchObject([1, 3, 4].map((number) => ({ Id: idOf('003', number) })))
    organization.pollsOfJobs = null
    const failing = open().bulk2.query('SELECT Id FROM Contact', { pollInterval: 10, pollTimeout: 10_000 })
    await expect(failing).rejects.toThrow('failed to complete')
  })

  test('saves collections of records, and reports each on its own', async () => {
    const contacts = open().sobject('Contact')
    const saved = await contacts.update([
      { Id: idOf('003', 1), Title: 'Countess' },
      { Id: idOf('003', 2), Title: 'Deleted' },
    ])
    expect(saved).toMatchObject([
      { id: idOf('003', 1), success: true, errors: [] },
      { success: false, errors: [{ statusCode: 'ENTITY_IS_DELETED' }] },
    ])
    const [created] = await contacts.create([{ LastName: "O'Hara", Email: "o'hara@example.com" }])
    expect(created).toMatchObject({ success: true })
    const found = await open().query(
      "SELECT Id, Title FROM Contact WHERE Email IN ('x@example.com', 'O\\'Hara@example.com')",
    )
    expect(found.records).toMatchObject([{ Id: created?.id }])
  })

  test('refuses an expired session, which jsforce renews, and names its errors', async () => {
    const connection = open('expired')
    expect((await connection.query('SELECT Id FROM Contact')).records).toHaveLength(2)
    expect(connection.accessToken).toBe(organization.accessToken)
    await expect(connection.query('SELECT Nothing FROM Contact')).rejects.toMatchObject({ errorCode: 'INVALID_FIELD' })
    await expect(connection.query('SELECT')).rejects.toMatchObject({ errorCode: 'MALFORMED_QUERY' })
    organization.isLimited = true
    await expect(connection.query('SELECT Id FROM Contact')).rejects.toMatchObject({
      errorCode: 'REQUEST_LIMIT_EXCEEDED',
    })
    organization.isLimited = false
    organization.records.Account?.push(record(idOf('001', 1), { Name: 'Engines' }))
    await expect(connection.queryMore('/services/data/v62.0/query/01g0-2000')).rejects.toMatchObject({
      errorCode: 'INVALID_QUERY_LOCATOR',
    })
  })
})
