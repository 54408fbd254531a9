import { beforeAll, beforeEach, expect, test } from 'vitest'
import { type Held, hold } from '../../../test/held-writes.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { readEvents, readState, requireConsistent } from '../../../test/visible-state.ts'
import { ifMatch } from '../../operations/etag.ts'
import { ServiceError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { createLog } from '../../platform/log.ts'
import { NOWHERE } from '../../platform/places.ts'
import { submitForm } from '../../sites/forms/submit.ts'
import { EMPTY_CALL } from '../../sites/ingestion/call.ts'
import { browserOf } from '../../sites/ingestion/event-fields.ts'
import { createCallRecorder } from '../../sites/ingestion/record-calls.ts'
import { etagOfRow } from '../contact-object.ts'
import { type ContactUpdate, createContact, updateContact } from '../write.ts'
import { identificationOf } from './identify.ts'
import { VISITORS_MAX } from './visitor-limits.ts'
import { createWriter, type WriteServices } from './writer.ts'

const ADA = 'ada@example.com'
const BOB = 'bob@example.com'
const TOO_LONG = 'x'.repeat(270 * 1024)

let service: TestService
let services: WriteServices
let tenant: TestTenant
let ada: string
let bob: string
let transactions: number
/** Why groups fell apart: then their writes have not shared a transaction. */
let causes: string[]

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  const { writing } = service
  const follow: typeof writing.segments.follow = (...given) => {
    transactions++
    return writing.segments.follow(...given)
  }
  causes = []
  const log = createLog('debug', { destination: { write: (line) => void causes.push(line) } })
  services = { ...writing, writer: createWriter({ ...writing, log, segments: { ...writing.segments, follow } }) }
  tenant = await createTestTenant(service)
  ada = await tenant.contact(ADA, { city: 'London' })
  bob = await tenant.contact(BOB)
  transactions = 0
})

/**
 * The result of each request, or its error's code. All have read what they need, and write in the same turn of the event
 * loop, so that they share a transaction.
 */
async function together(...requests: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
  const { writer } = services
  const held: Held[] = []
  for (const request of requests) {
    const one = hold(writer, (waiting) => {
      services = { ...services, writer: waiting }
      return request()
    })
    held.push(one)
    await one.arrived
  }
  services = { ...services, writer }
  transactions = 0
  for (const { release } of held) release()
  return Promise.all(
    held.map(({ outcome }) =>
      outcome.then(
        (result) => ('code' in result ? result.code : 'done'),
        (error: { code?: string }) => error.code ?? String(error),
      ),
    ),
  )
}

function update(
  contactId: string,
  { match, ...changes }: Partial<ContactUpdate> & { match?: string },
): Promise<unknown> {
  const whole = { properties: {}, visitorIds: [], ...changes }
  return updateContact(tenant.handle, services, contactId, whole, ifMatch(match))
}

function identify(email: string | null, more: { userId?: string; properties?: object; visitorIds?: string[] } = {}) {
  const { userId = null, properties = {}, visitorIds = [] } = more
  const identification = { email, userId, visitorIds, properties: { ...properties }, trust: 'verified' } as const
  return services.writer.write(tenant.handle, identificationOf(identification))
}

function form(email: string, domain: string, properties: Record<string, string> = {}) {
  const page = { url: '', pageHost: null, sessionId: '', ...browserOf(''), place: NOWHERE }
  const company = { domain, name: email, properties: {} }
  const findIdentificationKeys = async () => ({ requiresSignature: false, keys: [] })
  const submission = { formId: 'f', visitorId: null, email, properties, company, page }
  return submitForm(tenant.handle, { ...services, findIdentificationKeys }, submission)
}

/** Records a call of a server. @throws the code of its error. */
async function record(call: Partial<typeof EMPTY_CALL>): Promise<void> {
  const recordCalls = createCallRecorder({
    ...services,
    groupCommit: { record: async () => {} },
    sourceUsage: { note: () => {} },
    placeOf: () => NOWHERE,
    findIdentificationKeys: async () => ({ requiresSignature: false, keys: [] }),
  })
  const sender = { sourceId: null, trust: 'verified', page: null } as const
  const [result] = await recordCalls(tenant.handle, sender, [{ ...EMPTY_CALL, ...call }])
  if (result?.status === 'failed') throw new ServiceError(400, result.error.code, result.error.message)
}

async function adasEtag(): Promise<string> {
  const row = (await readState(tenant)).contacts.find(({ contact_id }) => contact_id === ada)
  return row ? `"${etagOfRow(row, new Set())}"` : ''
}

interface Refused {
  what: string
  code: string
  prepare?: () => Promise<unknown>
  request: () => Promise<unknown>
  /** What has written a company, or fails in the database, is undone with its transaction: each write then has its own. */
  isUndone?: true
}
/** Its name is no part of an id: those are hexadecimal. */
const bad = { unwanted: true }
const large = { ...bad, long: TOO_LONG }
const unknown = newId()

const REFUSED: Refused[] = [
  {
    what: 'an update with the email of another contact',
    code: 'contact_email_taken',
    request: () => update(ada, { email: BOB, properties: bad }),
  },
  {
    what: 'an update of an old version',
    code: 'changed_meanwhile',
    request: () => update(ada, { match: '"old"', properties: bad }),
  },
  {
    what: 'an update that is too large',
    code: 'contact_too_large',
    request: () => update(ada, { properties: large, visitorIds: ['v'] }),
  },
  {
    what: 'an update with an unknown company',
    code: 'unknown_company',
    request: () => update(ada, { properties: bad, companyId: unknown }),
  },
  {
    what: 'an update of an unknown contact',
    code: 'not_found',
    request: () => update(unknown, { email: ADA, properties: bad }),
  },
  {
    what: 'an update of a merged contact',
    code: 'contact_merged',
    prepare: () => tenant.call('POST', `/v1/contacts/${bob}/merge`, { into: ada }),
    request: () => update(bob, { properties: bad }),
  },
  {
    what: 'a new contact with the email of a merged one',
    code: 'contact_email_taken',
    prepare: () => tenant.call('POST', `/v1/contacts/${bob}/merge`, { into: ada }),
    request: () =>
      createContact(tenant.handle, services, { email: BOB, properties: bad, visitorIds: ['v'], companyId: null }),
  },
  {
    // It has written the properties when it counts the visitors.
    what: 'an identification of one visitor too many',
    code: 'too_many_visitors',
    prepare: withManyVisitors,
    request: () => identify(BOB, { properties: bad, visitorIds: ['v'] }),
  },
  {
    // It has taken the email from a contact that has it from a page when it creates another.
    what: 'an identification that gets the email of another contact, and is too large',
    code: 'contact_too_large',
    prepare: async () => {
      await identify(null, { userId: 'u1', visitorIds: ['v'] })
      await tenant.track({
        visitor_id: 'v',
        identify: { external_user_id: 'u1', traits: { email: 'cyd@example.com' } },
      })
    },
    request: () => identify('cyd@example.com', { userId: 'u2', properties: large }),
  },
  {
    what: 'a call with an unknown contact',
    code: 'unknown_contact',
    request: () => record({ contactId: unknown, visitorId: 'v', properties: bad }),
  },
  {
    what: 'a call with the id of another contact as its previous one',
    code: 'previous_id_taken',
    prepare: () => identify(BOB, { userId: 'u1' }),
    request: () => record({ email: ADA, previousId: 'u1', properties: bad }),
  },
  {
    what: 'a form that writes a company, and is too large for its contact',
    code: 'contact_too_large',
    isUndone: true,
    request: () => form(ADA, 'new.example', { unwanted: 'true', long: TOO_LONG }),
  },
  {
    what: 'a call that writes a company, and is too large for its contact',
    code: 'contact_too_large',
    isUndone: true,
    request: () =>
      record({
        email: ADA,
        properties: large,
        company: { domain: 'new.example', externalId: null, name: 'New', properties: {} },
      }),
  },
  {
    what: 'a write that the database rejects',
    code: '22P05',
    isUndone: true,
    request: () => identify(ADA, { properties: { ...bad, city: '\u0000' } }),
  },
]

/** Fills the limit of visitors of a contact. */
async function withManyVisitors(): Promise<void> {
  const rows = Array.from({ length: VISITORS_MAX }, (_, index) => ({
    visitor_id: `many${index}`,
    contact_id: bob,
    created_at: new Date(),
  }))
  await tenant.handle.db.insertInto('visitors').values(rows).execute()
}

test.each(REFUSED)('$what fails alone, and changes nothing: $code', async ({ code, prepare, request, isUndone }) => {
  const cyd = await tenant.contact('dan@example.com')
  await prepare?.()
  const before = withoutContact(cyd, await readState(tenant))
  const otherEvents = async () => (await readEvents(tenant)).filter(({ contactId }) => contactId !== cyd)
  const eventsBefore = await otherEvents()
  const good = (number: number) => update(cyd, { properties: { [`good${number}`]: number } })
  const results = await together(
    () => good(1),
    request,
    () => good(2),
    () => good(3),
  )
  expect(results).toEqual(['done', code, 'done', 'done'])
  const after = await readState(tenant)
  expect(withoutContact(cyd, after)).toEqual(before)
  expect(await otherEvents()).toEqual(eventsBefore)
  const { properties } = after.contacts.find(({ contact_id }) => contact_id === cyd) ?? {}
  expect(properties).toEqual({ good1: 1, good2: 2, good3: 3 })
  expect(transactions, causes.join('')).toBe(isUndone ? 3 : 1)
})

test('of writes to one contact, those that fail leave nothing between the others', async () => {
  const etag = await adasEtag()
  const results = await together(
    () => update(ada, { match: etag, properties: { city: 'Paris' } }),
    // What the one before has written counts.
    () => update(ada, { match: etag, properties: bad }),
    () => update(ada, { email: BOB, properties: bad, visitorIds: ['v'] }),
    () => identify(ADA, { properties: large, visitorIds: ['v'] }),
    () => identify(ADA, { properties: { plan: 'a' }, visitorIds: ['w'] }),
    () => update(ada, { email: 'new@example.com' }),
    () => identify(ADA, { properties: { plan: 'b' } }),
  )
  expect(results).toEqual([
    'done',
    'changed_meanwhile',
    'contact_email_taken',
    'contact_too_large',
    'done',
    'done',
    'done',
  ])
  expect(transactions, causes.join('')).toBe(1)
  const state = await readState(tenant)
  requireConsistent(state)
  expect(JSON.stringify(state)).not.toContain('unwanted')
  const contacts = state.contacts.map(({ email, properties }) => ({ email, properties }))
  expect(contacts).toHaveLength(3)
  expect(contacts).toEqual(
    expect.arrayContaining([
      { email: 'new@example.com', properties: { city: 'Paris', plan: 'a' } },
      { email: ADA, properties: { plan: 'b' } },
    ]),
  )
  const ofVisitors = Object.fromEntries(state.visitors.map(({ visitor_id, contact_id }) => [visitor_id, contact_id]))
  expect(ofVisitors).toEqual({ v: null, w: ada })
  const events = (await readEvents(tenant)).filter(({ contactId }) => contactId === ada)
  expect(events.map(({ event, data }) => [event, data.changed ?? data.visitor_ids ?? null])).toEqual([
    ['contact_created', null],
    ['contact_updated', ['city']],
    ['contact_updated', ['plan']],
    ['contact_identified', ['w']],
    ['contact_updated', ['email']],
  ])
})

test('an email that a merge brought to the survivor stays there, although a page sent it', async () => {
  await identify(null, { userId: 'u1' })
  const id = (await readState(tenant)).contacts.find(({ external_id }) => external_id === 'u1')?.contact_id
  const other = await form('cyd@example.com', 'one.example')
  await tenant.call('POST', `/v1/contacts/${other.contact_id}/merge`, { into: id })
  const { status, body } = await tenant.call('POST', '/v1/identify', { email: 'cyd@example.com', user_id: 'u2' })
  expect([status, body.contact_id]).toEqual([200, id])
})

test('a form that is refused leaves no company, and one of the same company that is accepted does', async () => {
  const tooLarge = { unwanted: 'true', long: TOO_LONG }
  const results = await together(
    () => form(ADA, 'refused.example', tooLarge),
    () => form(BOB, 'shared.example'),
    () => form(ADA, 'shared.example', tooLarge),
    () => form('cyd@example.com', 'shared.example'),
  )
  expect(results).toEqual(['contact_too_large', 'done', 'contact_too_large', 'done'])
  const { companies, contacts } = await readState(tenant)
  expect(companies).toMatchObject([{ domain: 'shared.example', name: 'cyd@example.com' }])
  const members = contacts.filter(({ company_id }) => company_id !== null).map(({ email }) => email)
  expect(members.toSorted()).toEqual([BOB, 'cyd@example.com'])
})

function withoutContact(
  contactId: string,
  { contacts, records, visitors, ...state }: Awaited<ReturnType<typeof readState>>,
) {
  const isOther = (row: { contact_id: string }) => row.contact_id !== contactId
  const known = visitors.filter((visitor) => visitor.contact_id !== null)
  return { ...state, visitors: known, contacts: contacts.filter(isOther), records: records.filter(isOther) }
}
