import Type from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CONNECTORS } from '../../src/connectors/all-connectors.ts'
import { textOf } from '../../src/connectors/client.ts'
import type { Connector, ContactRecord } from '../../src/connectors/connector.ts'
import { type ConnectedSystem, startConnectedSystem } from '../connected-system.ts'
import { makeCertificate } from '../receiver.ts'
import { inState, pulled, readConnection } from '../scripted-connector.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../service.ts'

/**
 * Chapter 3: a connector, the code that reads one kind of system.
 *
 * A connector says how to sign in and how to read a page of records. `connectors/connector.ts` documents every field. When to
 * read, where to continue, how long to wait for a rate limit, what to do with a bad record, the operations and the dashboard's
 * form are shared by all. This one reads the people of a small CRM.
 */
const smallCrm: Connector = {
  // In paths and tables, and the name of its source: properties say that they are from `small_crm`.
  name: 'small_crm',
  label: 'Small CRM',
  kind: 'crm',
  // The secrets that people enter. They are stored sealed.
  credentials: { token: 'An API token with read access.' },
  // What else people enter. The dashboard's form follows from both.
  settings: { region: Type.Optional(Type.String({ description: 'The region of the account.' })) },
  baseUrl: ({ region = 'eu' }) => `https://${region}.small-crm.example`,
  headers: ({ token }) => ({ authorization: `Bearer ${token}` }),
  pauseMs: 0,
  // Called when someone connects, so that a wrong token is refused at once.
  account: async (client) => {
    const { id, name } = await client.call({ path: '/account' })
    return { id: textOf(id), label: textOf(name) ?? 'Small CRM' }
  },
  objects: [
    {
      name: 'people',
      // How far an increment reaches back, because a system may list a change late.
      overlapSeconds: 60,
      // One page: what changed since the last read, from the cursor on. `next` is the cursor of the page after it.
      read: async (client, { since, cursor }) => {
        const query = { changed_since: since?.toISOString(), page: textOf(cursor) ?? undefined }
        const { people, next } = await client.call({ path: '/people', query })
        return { contacts: (people as Person[]).map(recordOf), next: textOf(next) }
      },
    },
  ],
}

interface Person {
  id: string
  mail: string
  name: string
  changed: string
}

/** The system's own words become properties, and `raw` is kept as it came. */
function recordOf(person: Person): ContactRecord {
  const { id, mail, name, changed } = person
  return { external_id: id, email: mail, properties: { firstname: name }, raw: person, updated_at: changed }
}

/** It is listed in `connectors/all-connectors.ts`. The chapter lists its connector for a while. */
const listed = CONNECTORS as Connector[]

let system: ConnectedSystem
let service: TestService
let tenant: TestTenant
/** Its people, by page. */
let pages: Person[][] = []
let connection: string
let firstRun: string

const person = (id: string, name: string, mail = `${name.toLowerCase()}@example.com`): Person => {
  return { id, name, mail, changed: new Date().toISOString() }
}

/**
 * A stand-in for the system on loopback, which follows its documentation: the tests of a connector call no vendor. If the vendor
 * has a client, check the stand-in with it, as `hubspot/emulator.test.ts` does.
 */
beforeAll(async () => {
  const certificate = makeCertificate()
  system = await startConnectedSystem(certificate, ({ path, query, headers }) => {
    if (headers.authorization !== 'Bearer right') return { status: 401, body: { message: 'wrong token' } }
    if (path === '/account') return { body: { id: '7', name: 'Engine Works' } }
    const page = Number(query.get('page') ?? 0)
    return { body: { people: pages[page] ?? [], next: page + 1 < pages.length ? String(page + 1) : null } }
  })
  listed.push(smallCrm)
  service = await startTestService(
    {},
    {
      outbound: { allowPrivate: true, ca: certificate.certificate },
      connectorUrls: { small_crm: system.url },
    },
  )
  tenant = await createTestTenant(service)
})
afterAll(async () => {
  listed.splice(listed.indexOf(smallCrm), 1)
  await service?.close()
  await system?.close()
})

const connect = (token: string) =>
  tenant.call('POST', '/v1/connections', { connector: 'small_crm', credentials: { token } })
const readNow = () => tenant.call('POST', `${connection}/pull`)

describe('from one declaration', () => {
  test('you get connecting, which refuses a wrong token', async () => {
    expect((await connect('wrong')).body.error.code).toBe('connection_refused')
    pages = [[person('1', 'Ada')], [person('2', 'Grace'), person('3', 'Nobody', 'no address')]]
    const { status, body } = await connect('right')
    expect([status, body.connection.account]).toEqual([201, 'Engine Works'])
    connection = `/v1/connections/${body.connection.connection_id}`
  })

  test('you get the first read of all pages, with provenance, and a list of the records that were refused', async () => {
    firstRun = (await pulled(tenant, connection)).run_id
    const ada = await tenant.contactOf('ada@example.com')
    expect(ada.properties).toMatchObject({ firstname: 'Ada' })
    expect((await tenant.contactOf('grace@example.com')).properties).toMatchObject({ firstname: 'Grace' })
    const { errors } = (await tenant.call('GET', `${connection}/errors`)).body
    expect(errors).toMatchObject([{ external_id: '3', code: 'invalid_email' }])
  })

  test('you get increments from the time of the read before, with the overlap', async () => {
    pages = [[person('1', 'Augusta', 'ada@example.com')]]
    const before = system.requests.length
    await readNow()
    await pulled(tenant, connection, firstRun)
    const [request] = system.requests.slice(before).filter(({ path }) => path === '/people')
    expect(Date.parse(request?.query.get('changed_since') ?? '')).toBeLessThan(Date.now() - 60_000)
    expect((await tenant.contactOf('ada@example.com')).properties).toMatchObject({ firstname: 'Augusta' })
  })

  test('you get the wait for a sign-in that has ended, until a person signs in again', async () => {
    system.intercept = () => ({ status: 401, body: { message: 'token revoked' } })
    await readNow()
    await inState(tenant, connection, 'signed_out')
    expect(JSON.stringify(await readConnection(tenant, connection))).toContain('token revoked')
    system.intercept = () => undefined
  })
})

/*
 * What it owes, and the test that says so:
 *
 * - tests of what can happen to its system, in its folder. `docs/connectors-tests.md` has a table for each connector with ten
 *   cases, from the first read to an erasure, and `connectors-tests.test.ts` fails until yours names a test for each, or says
 *   why the case does not apply;
 * - a page `docs/connectors-small-crm.md` and a line in the tables of `docs/connectors.md`; `docs/contents.ts` lists the page;
 * - with `oauth`, a provider in `providers/`; with `writeBack`, the same ten cases for writing;
 * - nothing for erasure: the shared code removes the person from what connections keep. Who stays in the system comes back with
 *   a reread, and `docs/recipes/erase-a-person.md` says so.
 */
