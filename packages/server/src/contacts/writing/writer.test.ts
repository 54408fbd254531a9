import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { lockContact } from '../locks.ts'
import { updateContact } from '../write.ts'
import { type Identification, identificationOf } from './identify.ts'
import { createWriter, type Writer } from './writer.ts'

let service: TestService
let tenant: TestTenant
let writer: Writer
/** How many transactions the writer has run. */
let transactions = 0

beforeAll(async () => {
  service = await sharedService()
  const { segments } = service.writing
  const follow: typeof segments.follow = (...given) => {
    transactions++
    return segments.follow(...given)
  }
  writer = createWriter({ ...service.writing, segments: { ...segments, follow } })
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  transactions = 0
})

const change = (contactId: string, properties: Record<string, string>) =>
  updateContact(tenant.handle, { ...service.writing, writer }, contactId, { properties, visitorIds: [] }, () => {})
const contacts = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => tenant.contact(`person-${n}@example.com`)))
const propertiesOf = async (contactId: string) =>
  (await tenant.call('GET', `/v1/contacts/${contactId}`)).body.contact.properties

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
