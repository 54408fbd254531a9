import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { readEvents, readState, requireConsistent } from '../../../test/visible-state.ts'
import { anyVersion } from '../../operations/etag.ts'
import { ServiceError } from '../../platform/errors.ts'
import { createContact, updateContact } from '../write.ts'
import { identificationOf } from './identify.ts'
import { createWriter, type WriteServices } from './writer.ts'

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})

const EMAILS = ['ada@example.com', 'bob@example.com', 'cyd@example.com'] as const

interface Sent {
  door: 'identify' | 'create' | 'update'
  person: number
  visitor: string
  /** Whether it is sent once the one before has its response, or together with it. */
  waits: boolean
}
const sent: fc.Arbitrary<Sent> = fc.record({
  door: fc.constantFrom('identify', 'identify', 'create', 'update'),
  person: fc.nat(EMAILS.length - 1),
  visitor: fc.constantFrom('v1', 'v2', 'v3'),
  waits: fc.boolean(),
})
const process = fc.array(sent, { minLength: 5, maxLength: 40 })

/** A write that succeeded. Each sets a property of its own, and the same one as all others. */
interface Done extends Sent {
  number: number
  process: number
  contactId: string
  hasCreated: boolean
}

/**
 * Each process has a writer of its own, as two processes on one database have; both write about the same people. What is
 * in the contacts and their events must be the result of all writes in one order, in which those of each process with
 * a key in common are as they arrived.
 */
test('two processes that write about the same people lose no write, and keep the order of each', async () => {
  await fc.assert(
    fc.asyncProperty(process, process, async (first, second) => {
      const tenant = await createTestTenant(service)
      const ada = await tenant.contact(EMAILS[0])
      const [one, two] = [first, second].map((all) =>
        all.map((each) => (each.door === 'update' ? { ...each, person: 0 } : each)),
      )
      const done = (await Promise.all([one, two].map((all, number) => run(tenant, ada, all ?? [], number)))).flat()
      await check(tenant, ada, done)
    }),
    { numRuns: 15, endOnFailure: true },
  )
})

/** Sends the writes of a process. @returns those that succeeded, in the order in which they arrived. */
async function run(tenant: TestTenant, ada: string, all: readonly Sent[], process: number): Promise<Done[]> {
  const services = { ...service.writing, writer: createWriter(service.writing) }
  const running: Promise<Done[]>[] = []
  for (const [index, each] of all.entries()) {
    if (each.waits) await running.at(-1)
    running.push(perform(tenant, services, ada, each, { number: 2 * index + process, process }))
  }
  return (await Promise.all(running)).flat()
}

async function perform(
  tenant: TestTenant,
  services: WriteServices,
  ada: string,
  each: Sent,
  of: { number: number; process: number },
): Promise<Done[]> {
  const email = EMAILS[each.person] ?? EMAILS[0]
  const properties = { [`own${of.number}`]: of.number, shared: of.number }
  const { handle } = tenant
  const visitorIds = [each.visitor]
  if (each.door === 'update') {
    await updateContact(handle, services, ada, { properties, visitorIds }, anyVersion)
    return [{ ...each, ...of, contactId: ada, hasCreated: false }]
  }
  if (each.door === 'identify') {
    const identification = { email, userId: null, trust: 'verified', visitorIds, properties } as const
    const { contactId, created } = await services.writer.write(handle, identificationOf(identification))
    return [{ ...each, ...of, contactId, hasCreated: created }]
  }
  try {
    const row = await createContact(handle, services, { email, properties, visitorIds, companyId: null })
    return [{ ...each, ...of, contactId: row.contact_id, hasCreated: true }]
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'contact_email_taken') throw error
    return []
  }
}

/** Whether a write must not come before another, because it arrived later and has a key in common or was sent after its response. */
function isAfter(write: Done, other: Done): boolean {
  const keysOf = ({ door, person, visitor }: Done) => [door === 'update' ? 'contact' : `email ${person}`, visitor]
  const isRelated = keysOf(write).some((key) => keysOf(other).includes(key))
  return write.number > other.number && (isRelated || (write.waits && write.number === other.number + 2))
}

async function check(tenant: TestTenant, ada: string, done: readonly Done[]): Promise<void> {
  const state = await readState(tenant)
  requireConsistent(state)
  const events = await readEvents(tenant)
  const emails = new Map(state.contacts.map(({ email, contact_id }) => [email, contact_id]))
  expect(state.contacts.length, 'a contact for each email').toBe(
    new Set([ada, ...done.map(({ contactId }) => contactId)]).size,
  )
  for (const { person, contactId } of done) expect(emails.get(EMAILS[person] ?? null), EMAILS[person]).toBe(contactId)
  for (const { contact_id, properties } of state.contacts) {
    const writes = done.filter(({ contactId }) => contactId === contact_id)
    expect(writes.filter(({ hasCreated }) => hasCreated).length).toBe(contact_id === ada ? 0 : 1)
    const order: Done[] = []
    let before: Record<string, unknown> = {}
    for (const { event, data, contactId } of events) {
      if (contactId !== contact_id || !['contact_created', 'contact_updated'].includes(event)) continue
      const { email: _, ...after } = data.properties as Record<string, unknown>
      const number = after.shared
      const write = writes.find((each) => each.number === number)
      if (write) order.push(write)
      // What a write does to the contact, whoever wrote before.
      expect(after).toEqual(write ? { ...before, [`own${number}`]: number, shared: number } : {})
      before = after
    }
    expect(properties).toEqual(before)
    expect(order.map(({ number }) => number).sort()).toEqual(writes.map(({ number }) => number).sort())
    for (const process of [0, 1]) {
      const ofProcess = order.filter((each) => each.process === process)
      for (const [place, each] of ofProcess.entries()) {
        const overtaken = ofProcess.slice(0, place).filter((earlier) => isAfter(earlier, each))
        expect(
          overtaken.map(({ number }) => [number, each.number]),
          'the order of arrival',
        ).toEqual([])
      }
    }
    if (order.length > 0) expect(order[0]?.hasCreated, 'the first write created it').toBe(contact_id !== ada)
  }
  for (const { visitor_id, contact_id } of state.visitors) {
    const ofVisitor = done.filter(({ visitor }) => visitor === visitor_id)
    const last = [0, 1].flatMap((process) => ofVisitor.filter((each) => each.process === process).at(-1) ?? [])
    const allowed: (string | null)[] = last.map(({ contactId }) => contactId)
    expect(ofVisitor.length === 0 ? [null] : allowed, visitor_id).toContain(contact_id)
  }
}
