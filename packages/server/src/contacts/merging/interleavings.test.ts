import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})

const PEOPLE = [0, 1, 2]
const emailOf = (person: number) => `person${person}@example.com`
const visitorOf = (person: number) => `v${person}`

type Step =
  | { kind: 'merge'; person: number; into: number }
  | { kind: 'unmerge' | 'track' | 'identify' | 'read'; person: number }

const person = fc.constantFrom(...PEOPLE)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('merge' as const), person, into: person }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom('unmerge', 'track', 'track', 'identify', 'read'), person }),
  },
)
const scripts = fc.array(fc.array(step, { maxLength: 8 }), { minLength: 3, maxLength: 3 })

/** The only allowed errors: a wrong order of unmerges, or a conflict with a concurrent request. */
const REFUSALS = ['already_merged', 'contact_not_merged', 'unmerge_later_first', 'validation_error']

/**
 * Each person has their own contact and visitor. Whatever is merged, unmerged, recorded and identified concurrently, no
 * two are mixed up: once all is unmerged, each contact is as before, with its visitor, and every event of that visitor
 * is on a contact that it could have been recorded for.
 */
test("under any interleaving of merges and visitors' actions, unmerging restores every contact", async () => {
  await fc.assert(
    fc.asyncProperty(scripts, async (actors) => {
      const tenant = await createTestTenant(service)
      const ids = await Promise.all(
        PEOPLE.map((each) => tenant.contact(emailOf(each), { [`own${each}`]: each, name: each })),
      )
      for (const each of PEOPLE) await name(tenant, each)
      for (const each of PEOPLE) await track(tenant, each, `before-${each}`)
      const before = await statesOf(tenant, ids)

      const recorded = new Set<string>()
      let number = 0
      await Promise.all(
        actors.map(async (steps) => {
          for (const each of steps) await act(tenant, ids, each, recorded, () => `during-${each.person}-${number++}`)
        }),
      )

      await unmergeAll(tenant, ids)
      for (const each of PEOPLE) await track(tenant, each, `after-${each}`)
      expect(await statesOf(tenant, ids)).toEqual(before)
      expect((await tenant.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(PEOPLE.length)
      const { events } = (await tenant.call('GET', '/v1/events?limit=100')).body
      const owners = new Map<string, string>()
      for (const { event, internal_contact_id } of events) {
        expect(owners.has(event), `${event} is there twice`).toBe(false)
        owners.set(event, internal_contact_id)
      }
      for (const each of PEOPLE) {
        expect([owners.get(`before-${each}`), owners.get(`after-${each}`)]).toEqual([ids[each], ids[each]])
      }
      for (const event of recorded) expect(ids, event).toContain(owners.get(event))
    }),
    { numRuns: 15, endOnFailure: true },
  )
})

async function act(
  tenant: TestTenant,
  ids: readonly string[],
  step: Step,
  recorded: Set<string>,
  nextEvent: () => string,
): Promise<void> {
  const id = ids[step.person]
  if (step.kind === 'track') {
    const event = nextEvent()
    await track(tenant, step.person, event)
    recorded.add(event)
  } else if (step.kind === 'identify') {
    expect(ids).toContain(await name(tenant, step.person))
  } else if (step.kind === 'read') {
    const acknowledged = [...recorded]
    const { events } = (await tenant.call('GET', '/v1/events?limit=100')).body
    const seen = events.map(({ event }: { event: string }) => event)
    expect(seen, 'a read missed an acknowledged event').toEqual(expect.arrayContaining(acknowledged))
  } else {
    const body = step.kind === 'merge' ? { into: ids[step.into] } : undefined
    const response = await tenant.call('POST', `/v1/contacts/${id}/${step.kind}`, body)
    if (response.status !== 200) expect(REFUSALS, JSON.stringify(response.body)).toContain(response.body.error.code)
  }
}

async function name(tenant: TestTenant, person: number): Promise<string> {
  const { body } = await tenant.call('POST', '/v1/identify', { visitor_id: visitorOf(person), email: emailOf(person) })
  expect(body.created, JSON.stringify(body)).toBe(false)
  return body.contact_id
}

async function track(tenant: TestTenant, person: number, event: string): Promise<void> {
  const { status } = await tenant.track({ visitor_id: visitorOf(person), events: [{ event }] })
  expect(status).toBe(200)
}

/** Whatever the order of merges, following the errors leads to an order of unmerges that works. */
async function unmergeAll(tenant: TestTenant, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    for (let next = id; ; ) {
      const { status, body } = await tenant.call('POST', `/v1/contacts/${next}/unmerge`)
      const isDone = status === 200 || body.error.code === 'contact_not_merged'
      if (!isDone) expect(body.error.code).toBe('unmerge_later_first')
      if (isDone && next === id) break
      next = isDone ? id : body.error.details[0].message
    }
  }
}

/** Each contact, without the times of repeated values. */
async function statesOf(tenant: TestTenant, ids: readonly string[]) {
  const contacts = await Promise.all(
    ids.map(async (id) => {
      const { contact, unified_profile } = (await tenant.call('GET', `/v1/contacts/${id}?include_events=false`)).body
      const values = Object.entries(unified_profile.profile as Record<string, { unique_values: { value: unknown }[] }>)
      return {
        properties: contact.properties,
        sources: Object.keys(unified_profile.sources).sort(),
        values: Object.fromEntries(values.map(([key, field]) => [key, field.unique_values.map(({ value }) => value)])),
      }
    }),
  )
  const visitors = await tenant.handle.db
    .selectFrom('visitors')
    .select(['visitor_id', 'contact_id'])
    .orderBy('visitor_id')
    .execute()
  return { contacts, visitors }
}
