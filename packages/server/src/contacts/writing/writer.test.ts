import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { NOWHERE } from '../../platform/places.ts'
import { submitForm } from '../../sites/forms/submit.ts'
import { browserOf } from '../../sites/ingestion/event-fields.ts'
import type { IncomingRecord } from '../../sources/incoming-record.ts'
import { removeSourceRecords } from '../../sources/remove-records.ts'
import { writeRecords } from '../../sources/write-records.ts'
import { lockContact } from '../locks.ts'
import { updateContact } from '../write.ts'
import { type Identification, identificationOf } from './identify.ts'
import { createWriter, type Writer } from './writer.ts'

const CRM = { source: 'pipedrive', kind: 'crm' } as const
const NO_RECORD: IncomingRecord = { externalId: null, email: null, properties: {}, at: null, companyDomain: null }

let service: TestService
let tenant: TestTenant
let writer: Writer
/** How many transactions the writer has run. */
let transactions = 0
/** How many contacts each of them has changed. */
let sizes: number[] = []

beforeAll(async () => {
  service = await sharedService()
  const { segments } = service.writing
  const follow: typeof segments.follow = (...given) => {
    const [, { changed }] = given
    transactions++
    sizes.push(changed.size)
    return segments.follow(...given)
  }
  writer = createWriter({ ...service.writing, segments: { ...segments, follow } })
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  transactions = 0
  sizes = []
})

const change = (contactId: string, properties: Record<string, string>) =>
  updateContact(tenant.handle, { ...service.writing, writer }, contactId, { properties, visitorIds: [] }, () => {})
const contacts = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => tenant.contact(`person-${n}@example.com`)))
const propertiesOf = async (contactId: string) =>
  (await tenant.call('GET', `/v1/contacts/${contactId}`)).body.contact.properties

const push = (records: readonly Partial<IncomingRecord>[]) =>
  writeRecords(
    tenant.handle,
    { ...service.writing, writer },
    CRM,
    records.map((record) => ({ ...NO_RECORD, ...record })),
  )

/** Holds a contact's row until the returned function is called. */
async function hold(contactId: string): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const holding = tenant.handle.transaction(async (tx) => {
    await lockContact(tx, contactId)
    held.resolve()
    await released.promise
  })
  await held.promise
  return async () => {
    released.resolve()
    await holding
  }
}

test('what arrives together shares a transaction, and each write of a contact is applied to what the one before left', async () => {
  const ids = await contacts(3)
  const writes = Array.from({ length: 60 }, (_, n) => change(ids[n % 3] ?? '', { [`key_${n}`]: 'x', last: `${n}` }))
  await Promise.all(writes)
  expect(transactions).toBeLessThanOrEqual(2)
  for (const [of, id] of ids.entries()) {
    const properties = await propertiesOf(id)
    expect(Object.keys(properties)).toHaveLength(22)
    expect(properties.last).toBe(`${57 + of}`)
  }
})

test('a write that waits for a lock holds up neither later writes to other contacts nor their order', async () => {
  const [held = '', ...others] = await contacts(4)
  const release = await hold(held)
  const order: string[] = []
  const waiting = [
    change(held, { last: 'first' }).then(() => order.push('first')),
    change(held, { last: 'second' }).then(() => order.push('second')),
  ]
  for (const id of others) await change(id, { last: 'meanwhile' })
  expect(order).toEqual([])
  for (const id of others) expect(await propertiesOf(id)).toMatchObject({ last: 'meanwhile' })
  await release()
  await Promise.all(waiting)
  expect(order).toEqual(['first', 'second'])
  expect(await propertiesOf(held)).toMatchObject({ last: 'second' })
})

test('writes of one request are applied in their order, also if they name one contact by different keys', async () => {
  const sent = { email: null, userId: null, trust: 'verified', visitorIds: [], properties: {} } as const
  const named = (by: Partial<Identification>) => identificationOf({ ...sent, ...by })
  const [email, userId] = ['ada@example.com', 'user-1']
  const { contactId } = await writer.write(tenant.handle, named({ email, userId }))
  const release = await hold(contactId)
  // It keeps the address busy, so that the first write of the request has to wait, but not the second.
  const before = writer.write(tenant.handle, named({ email, properties: { last: 'before' } }))
  await expect.poll(() => transactions).toBeGreaterThanOrEqual(1)
  const request = writer.writeEach(tenant.handle, [
    named({ email, properties: { last: 'first' } }),
    named({ userId, properties: { last: 'second' } }),
  ])
  // Long enough for the second to overtake the first, if it could.
  await sleep(300)
  await release()
  await Promise.all([before, request])
  expect(await propertiesOf(contactId)).toMatchObject({ last: 'second' })
})

test('pushes that arrive together share a transaction', async () => {
  const pushes = Array.from({ length: 20 }, (_, n) =>
    push([{ externalId: `r${n % 5}`, properties: { [`key_${n}`]: 'x' } }]),
  )
  const results = await Promise.all(pushes)
  expect(transactions).toBe(1)
  const statuses = results.map(([result]) => result?.status)
  expect(statuses.slice(0, 5)).toEqual(Array(5).fill('created'))
  expect(statuses.slice(5)).toEqual(Array(15).fill('updated'))
})

test('a large push delays no write that arrives with it', async () => {
  const ids = await contacts(30)
  const large = Array.from({ length: 600 }, (_, n) => ({ externalId: `r${n}` }))
  await Promise.all([
    change(ids[0] ?? '', { city: 'Rome' }),
    push(large),
    ...ids.slice(1).map((id) => change(id, { city: 'Rome' })),
  ])
  expect(sizes.filter((size) => size > 0).toSorted((a, b) => a - b)).toEqual([30, 600])
})

test('a company is created by the push that names it first, not by a form about its contact that arrives after it', async () => {
  const properties = { company: 'Analytical Engines', company_domain: 'ae.example' }
  const findIdentificationKeys = async () => ({ requiresSignature: false, keys: [] })
  const page = { url: '', pageHost: null, sessionId: '', ...browserOf(''), place: NOWHERE }
  const company = { domain: 'ae.example', name: 'Another name', properties: {} }
  const submission = { formId: 'f', visitorId: null, email: 'bob@example.com', properties: {}, company, page }
  const [, { warnings }] = await Promise.all([
    push([{ externalId: 'r1', email: 'bob@example.com', properties, companyDomain: 'ae.example' }]),
    submitForm(tenant.handle, { ...service.writing, writer, findIdentificationKeys }, submission),
  ])
  expect(warnings).toMatchObject([expect.stringContaining('company_data.name')])
  const { body } = await tenant.call('GET', '/v1/companies')
  expect(body.companies).toMatchObject([{ domain: 'ae.example', name: 'Analytical Engines' }])
})

test('a record that is removed between two pushes is gone for the second one', async () => {
  const services = { ...service.writing, writer }
  await push([{ externalId: 'r1', email: 'ada@example.com', properties: { city: 'Rome', plan: 'a' } }])
  const [, removed] = await Promise.all([
    // A further id: the source still has the contact when it deletes the first one.
    push([{ externalId: 'r2', email: 'ada@example.com', properties: { plan: 'b' } }]),
    removeSourceRecords(tenant.handle, services, CRM, ['r2', 'r1']),
    push([{ externalId: 'r2', email: 'bob@example.com', properties: { city: 'Oslo' } }]),
  ])
  expect(removed).toBe(1)
  const [ada, bob] = [await tenant.contactOf('ada@example.com'), await tenant.contactOf('bob@example.com')]
  expect(ada.properties).toEqual({ email: 'ada@example.com' })
  expect(bob.properties).toEqual({ email: 'bob@example.com', city: 'Oslo' })
})
