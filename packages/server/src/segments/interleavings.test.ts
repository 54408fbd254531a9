import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import type { SegmentCondition, SegmentFilter } from '../conditions/language.ts'
import { newId } from '../platform/ids.ts'
import { newClaim } from '../platform/postgres/lease.ts'
import { appendRecords } from '../webhooks/append.ts'
import { releaseSegment } from './claim.ts'
import { cacheDefinitions } from './definitions.ts'
import { evaluateSegment } from './evaluate.ts'
import { createSegment, deleteSegment, updateSegment } from './segments.ts'

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})

const STAGES = ['lead', 'customer'] as const
const CITIES = ['Oslo', 'Rome'] as const
const did = (type: string, min_count = 1): SegmentCondition => ({ event: { type, min_count }, operator: 'did' })
const is = (property: string, value: string): SegmentCondition => ({ property, operator: 'equals', value })
const not = (type: string): SegmentCondition => ({ event: { type }, operator: 'did_not' })
/** Filters of segments, most of which share an event condition with another. */
const FILTERS: SegmentFilter[] = [
  { match: 'all', conditions: [did('purchase')] },
  { match: 'all', conditions: [not('purchase'), is('lifecyclestage', 'lead')] },
  { match: 'any', conditions: [did('purchase', 2), { match: 'all', conditions: [did('visit'), is('city', 'Oslo')] }] },
  { match: 'all', conditions: [is('city', 'Oslo'), is('lifecyclestage', 'lead')] },
  { match: 'all', conditions: [did('contact_updated', 2), did('visit')] },
]

/** The steps for one contact, or for the segments, in order. */
type Step =
  | { kind: 'put'; stage?: (typeof STAGES)[number]; city?: (typeof CITIES)[number] }
  | { kind: 'track'; event: 'purchase' | 'visit' }
  | { kind: 'identify' }
type Chore = { kind: 'evaluate' | 'define' | 'change' | 'delete'; index: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record(
      { kind: fc.constant('put' as const), stage: fc.constantFrom(...STAGES), city: fc.constantFrom(...CITIES) },
      { requiredKeys: ['kind'] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('track' as const),
      event: fc.constantFrom('purchase' as const, 'visit' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('identify' as const) }) },
)
const chore: fc.Arbitrary<Chore> = fc.record({
  kind: fc.constantFrom('evaluate', 'evaluate', 'evaluate', 'define', 'change', 'delete'),
  index: fc.nat(FILTERS.length - 1),
})
const scripts = fc.record({
  contacts: fc.array(fc.array(step, { maxLength: 6 }), { minLength: 3, maxLength: 3 }),
  chores: fc.array(fc.array(chore, { maxLength: 6 }), { minLength: 2, maxLength: 2 }),
})

interface Person {
  stage: string
  city: string
  events: Record<string, number>
}

/** A second, simple implementation of the filters above. */
function belongs({ match, conditions }: SegmentFilter, person: Person): boolean {
  const isMet = (condition: SegmentCondition): boolean => {
    if ('conditions' in condition) return belongs(condition, person)
    if ('property' in condition) {
      return condition.value === (condition.property === 'city' ? person.city : person.stage)
    }
    if (!('event' in condition)) throw new Error('No filter above has such a condition.')
    const { type = '', min_count = 1 } = condition.event
    return (person.events[type] ?? 0) >= min_count === (condition.operator === 'did')
  }
  return match === 'all' ? conditions.every(isMet) : conditions.some(isMet)
}

test('under any interleaving, members match the filters, and each entry and exit is recorded once', async () => {
  await fc.assert(
    fc.asyncProperty(scripts, async ({ contacts, chores }) => {
      const tenant = await createTestTenant(service)
      // Created before any contacts, so that every change of their members is recorded.
      const lasting = await Promise.all(FILTERS.map((filter) => define(tenant, filter)))
      await Promise.all(lasting.map((segmentId) => evaluate(tenant, segmentId)))
      const ids = await Promise.all(contacts.map((_, n) => tenant.contact(`person${n}@example.com`)))
      await Promise.all([
        ...contacts.map((steps, n) => act(tenant, `v${n}`, ids[n] ?? '', `person${n}@example.com`, steps)),
        ...chores.map((list) => work(tenant, list, lasting)),
      ])
      // Again if a busy machine has queued a noted contact only afterwards.
      await until(async () => {
        await waitUntilIdle(tenant)
        for (const contactId of ids) await check(tenant, contactId, lasting)
      })
    }),
    { numRuns: 12, endOnFailure: true },
  )
})

async function define(tenant: TestTenant, filter: SegmentFilter): Promise<string> {
  const segment = { name: JSON.stringify(filter).slice(0, 100), description: null, filter }
  return (await createSegment(tenant.handle, segment, new Date())).segmentId
}

/** Evaluates a whole segment, unless another evaluation is running. */
async function evaluate(tenant: TestTenant, segmentId: string): Promise<void> {
  const claim = newId()
  const { numUpdatedRows } = await tenant.handle.db
    .updateTable('segments')
    .set(newClaim('segment', claim))
    .where('segment_id', '=', segmentId)
    .where('claimed_until', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return
  const dependencies = { definitions: cacheDefinitions(), clock: () => new Date(), append: appendRecords }
  await evaluateSegment(tenant.handle, dependencies, { segmentId, claim })
  await releaseSegment(tenant.handle, { segmentId, claim })
}

async function act(tenant: TestTenant, visitor_id: string, contactId: string, email: string, steps: Step[]) {
  for (const step of steps) {
    if (step.kind === 'track') await tenant.track({ visitor_id, events: [{ event: step.event }] })
    if (step.kind === 'identify') await tenant.call('POST', '/v1/identify', { visitor_id, email })
    if (step.kind !== 'put') continue
    const properties = {
      ...(step.stage && { lifecyclestage: step.stage }),
      ...(step.city && { city: step.city }),
    }
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties })
  }
}

async function work(tenant: TestTenant, chores: Chore[], lasting: readonly string[]) {
  const own: string[] = []
  for (const { kind, index } of chores) {
    const filter = FILTERS[index] as SegmentFilter
    const [segmentId] = own
    if (kind === 'evaluate') await evaluate(tenant, lasting[index] ?? '')
    if (kind === 'define') own.push(await define(tenant, filter))
    if (kind === 'change' && segmentId) await updateSegment(tenant.handle, segmentId, { filter }, new Date())
    if (kind === 'delete' && segmentId) await deleteSegment(tenant.handle, own.shift() ?? '')
  }
}

/** Waits until all noted contacts have been queued and checked, and all segments evaluated. */
async function waitUntilIdle(tenant: TestTenant): Promise<void> {
  // Noted contacts are queued within half a second; then they are visible here until they are checked.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const { db } = tenant.handle
  await expect
    .poll(
      async () => ({
        checks: (await db.selectFrom('segment_checks').select('contact_id').execute()).length,
        evaluating: (await db.selectFrom('segments').select('name').where('evaluated_at', 'is', null).execute()).length,
        unused: (await db.selectFrom('segment_unused_matches').select('match_key').execute()).length,
      }),
      { interval: 100 },
    )
    .toEqual({ checks: 0, evaluating: 0, unused: 0 })
}

async function check(tenant: TestTenant, contactId: string, lasting: readonly string[]): Promise<void> {
  const { contact } = (await tenant.call('GET', `/v1/contacts/${contactId}`)).body
  const { events } = (await tenant.call('GET', `/v1/events?contact_id=${contactId}&include=system&limit=100`)).body
  const eventsOf = (type: string): { data: { segment_id: string } }[] =>
    events.filter(({ event }: { event: string }) => event === type)
  expect(events.length).toBeLessThan(100)
  const person: Person = { stage: contact.properties.lifecyclestage, city: contact.properties.city, events: {} }
  for (const type of ['purchase', 'visit', 'contact_updated']) person.events[type] = eventsOf(type).length
  const segments = await tenant.handle.db.selectFrom('segments').select(['segment_id', 'filter']).execute()
  const expected = segments.filter(({ filter }) => belongs(filter as unknown as SegmentFilter, person))
  expect(contact.segment_ids).toEqual(expected.map(({ segment_id }) => segment_id).sort())
  const [entered = [], exited = []] = ['segment_entered', 'segment_exited'].map((type) =>
    eventsOf(type).map(({ data }) => data.segment_id),
  )
  for (const segmentId of lasting) {
    const times = (list: string[]) => list.filter((id) => id === segmentId).length
    expect(times(entered) - times(exited)).toBe(contact.segment_ids.includes(segmentId) ? 1 : 0)
  }
}
