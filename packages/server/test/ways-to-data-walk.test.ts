import { beforeAll, describe, expect, test } from 'vitest'
import { OPERATIONS } from '../src/assembly/all-operations.ts'
import { type Declaration, isReading, routeOf } from '../src/operations/declare.ts'
import { exampleOf, fill, fillBody, oneOfEach, queryOf } from './one-of-each.ts'
import { createTestTenant, sharedService, type TestTenant } from './service.ts'
import { MORE, OPENS_NOTHING, OTHERS, READS, SCOPES_OF_DATA, WAYS, WRITES } from './ways-to-data.ts'

/**
 * Every operation is either known to need the scopes of the data that it opens, or shown to open none: with its own scopes
 * alone, no response shows a contact, and none changes one.
 */

const DATA: readonly string[] = [...READS, ...WRITES, ...SCOPES_OF_DATA]
const OF_CONTACTS = ['contacts:read', 'data:export', 'data:erase']

/** Operations that show contacts or companies under another scope, because the interface names that one. */
const SHOWS_CONTACTS: Record<string, string> = {
  listSegmentContacts: 'segments:read',
  listAgentRuns: 'agents:read',
  getAgentRun: 'agents:read',
  listRunContacts: 'agents:read',
  listActions: 'agents:read',
  getAction: 'agents:read',
  listApprovals: 'agents:read',
  updateContact: 'contacts:write',
  mergeContact: 'contacts:write',
  unmergeContact: 'contacts:write',
  updateCompany: 'companies:write',
}
/** With the contact in each event, as the interface says. */
const SHOWS_EVENTS = 'events:read'

/** The contact's address, a text that only it has, and the address of somebody in a file that is being imported. */
const SECRETS = ['owner@example.com', 'enchantress-of-numbers', 'imported-person@example.com']
/** A text that only the company has. */
const OF_COMPANY = 'difference-engine'

/** Inputs that differ from the example. */
const SENT: Record<string, object> = { mergeContact: { into: ':survivor_id' } }

let tenant: TestTenant
let ids: Record<string, string>

beforeAll(async () => {
  const service = await sharedService()
  tenant = await createTestTenant(service)
  ids = await oneOfEach(service, tenant, 'walked')
  await tenant.call('PUT', `/v1/contacts/${ids.contact_id}`, { properties: { nickname: SECRETS[1] } })
  await tenant.call('PUT', `/v1/companies/${ids.company_id}`, { properties: { engine: OF_COMPANY } })
  ids.survivor_id = await tenant.contact('survivor@example.com')
  const { import_id } = (await tenant.upload(`email,nickname\n${SECRETS[2]},x\n`)).body.import
  ids.import_id = import_id
  await tenant.call('POST', `/v1/imports/${import_id}/preview`)
})

const conditional = new Set(MORE.map(({ operation }) => operation))
const scopesOf = ({ scope, also = [] }: Declaration) => [scope, ...also.flatMap(({ scopes }) => scopes)]

test('every operation that changes something needs scopes of data, or says why it opens none', () => {
  const undecided = OPERATIONS.filter((operation) => {
    const { name, tag, scope } = operation
    if (isReading(operation) || name in OPENS_NOTHING || SCOPES_OF_DATA.includes(scope)) return false
    return !(name in OTHERS) && WAYS[tag] === undefined && !conditional.has(name)
  })
  expect(undecided.map(({ name }) => name)).toEqual([])
})

test('what opens nothing declares no scopes of data', () => {
  const declared = OPERATIONS.filter(({ name }) => name in OPENS_NOTHING).filter(({ also = [] }) =>
    also.some(({ scopes }) => scopes.some((scope) => DATA.includes(scope))),
  )
  expect(declared.map(({ name }) => name)).toEqual([])
})

/** Deletes last, so that the others find what they name. */
const WALKED = OPERATIONS.filter((operation) => {
  const { name, scope } = operation
  return scope !== 'any-key' && scope !== SHOWS_EVENTS && !(name in SHOWS_CONTACTS)
})
  .filter(
    (operation) => !scopesOf(operation).some((scope) => OF_CONTACTS.includes(scope)) || conditional.has(operation.name),
  )
  .sort((a, b) => Number(a.http.startsWith('DELETE')) - Number(b.http.startsWith('DELETE')))

describe('a key with the scopes of an operation, but none to read contacts, is shown none', () => {
  test.each(WALKED.map((operation) => [operation.name, operation] as const))('by %s', async (_, operation) => {
    const own = scopesOf(operation).filter((scope) => scope === operation.scope || !DATA.includes(scope))
    const { method, url, hasBody } = routeOf(operation)
    const sent = { ...exampleOf(operation), ...SENT[operation.name] }
    const path = fill(url, ids)
    const body = hasBody ? fillBody(sent, ids) : undefined
    const query = hasBody ? '' : queryOf(sent)
    const before = await contact()
    const response = await tenant.call(method, path + query, body && JSON.parse(body), await tenant.keyWith(...own))
    const asked = `${path}${query}${body}`
    const text = JSON.stringify(response.body)
    const hidden = scopesOf(operation).includes('companies:read') ? SECRETS : [...SECRETS, OF_COMPANY]
    expect([
      response.status,
      hidden.filter((secret) => text.includes(secret) && !decoded(asked).includes(secret)),
    ]).toEqual([expect.any(Number), []])
    if (!WRITES.includes(operation.scope)) expect(await contact()).toEqual(before)
  })
})

const decoded = (text: string) => decodeURIComponent(text.replaceAll('%', '%25'))

async function contact(): Promise<unknown> {
  const { body } = await tenant.call('GET', `/v1/contacts/${ids.contact_id}?include_events=false`)
  return body.contact
}
