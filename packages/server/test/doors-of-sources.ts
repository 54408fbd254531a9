import fc from 'fast-check'
import { writeProfiles } from '../src/connectors/write-profiles.ts'
import type { WriteServices } from '../src/contacts/writing/writer.ts'
import { NOWHERE } from '../src/platform/places.ts'
import { createCallRecorder } from '../src/sites/ingestion/record-calls.ts'
import { recordBatch } from '../src/sites/segment/record.ts'
import type { Source } from '../src/sources/apply-records.ts'
import { removeSourceRecords } from '../src/sources/remove-records.ts'
import { parseRecord } from '../src/sources/requests.ts'
import { writeRecords } from '../src/sources/write-records.ts'
import { CHROME, type TestService, type TestTenant } from './service.ts'

const SECOND_MS = 1_000

/** Sources of all kinds whose records are treated differently. */
const SOURCES = {
  pipedrive: { source: 'pipedrive', kind: 'crm' },
  salesforce: { source: 'salesforce', kind: 'crm', isFollowed: true, yields: new Set(['city']) },
  clearbit: { source: 'clearbit', kind: 'enrichment' },
  typeform: { source: 'typeform', kind: 'form', isPartial: true },
  import: { source: 'import', kind: 'import' },
} as const satisfies Record<string, Source>

const email = fc.constantFrom('ada@example.com', 'bob@example.com', 'cyd@example.com', 'dan@example.com')
const userId = fc.constantFrom('u1', 'u2', 'u3', 'u4')
const visitorId = fc.constantFrom('v1', 'v2', 'v3', 'v4', 'v5')
const recordId = fc.constantFrom('r1', 'r2', 'r3', 'r4')
const domain = fc.constantFrom('one.example', 'two.example', 'three.example')
const source = fc.constantFrom(...(Object.keys(SOURCES) as (keyof typeof SOURCES)[]))
const properties = fc.dictionary(
  fc.constantFrom('city', 'plan', 'firstname', 'company', 'unsubscribed', 'hs_email_optout'),
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('a', 'b', '', 'true', 'false') },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  { maxKeys: 3 },
)
const record = fc.record({
  id: recordId,
  email: fc.option(fc.oneof({ weight: 8, arbitrary: email }, { weight: 1, arbitrary: fc.constant('malformed') })),
  properties,
  domain: fc.option(domain),
  raw: fc.option(fc.constantFrom('a', 'b')),
  at: fc.option(fc.nat(20)),
})
const traits = fc.record({ email: fc.option(email), city: fc.constantFrom('a', 'b') })
const sdkCall = fc
  .record({
    type: fc.constantFrom('track', 'identify', 'group', 'alias', 'page'),
    userId: fc.option(userId),
    anonymousId: visitorId,
    previousId: fc.oneof(userId, visitorId),
    groupId: domain,
    traits,
    context: fc.record({ traits }),
  })
  .map(ofSmallContact)

/** The person of a `group` call is one whose contact no other request fills: one that is refused undoes the group. */
function ofSmallContact<Call extends { type: string; groupId: string }>(call: Call) {
  const { type, groupId } = call
  if (type !== 'group') return call
  return { type, groupId, userId: `member of ${groupId}`, traits: { name: 'Name', plan: 'a' } }
}

const door = fc.oneof(
  fc.record({ door: fc.constant('push'), source, records: fc.array(record, { minLength: 1, maxLength: 4 }) }),
  fc.record({
    door: fc.constant('sdk'),
    isBrowser: fc.boolean(),
    batch: fc.array(sdkCall, { minLength: 1, maxLength: 2 }),
  }),
)
/** A request of a source that takes part in a group. */
export type SourceDoor = typeof door extends fc.Arbitrary<infer Request> ? Request : never
export const someSourceDoor: fc.Arbitrary<SourceDoor> = door

const lateDoor = fc.oneof(
  fc.record({ door: fc.constant('remove'), source, ids: fc.uniqueArray(recordId, { minLength: 1, maxLength: 2 }) }),
  fc.record({
    door: fc.constant('profiles'),
    source,
    profiles: fc.array(
      fc.record({
        keys: fc.record({ userId: fc.option(userId), email: fc.option(email) }),
        visitorIds: fc.uniqueArray(visitorId, { maxLength: 2 }),
        properties,
        at: fc.nat(20),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  }),
)
/** A request of a source that has several transactions, or one of its own. */
export type LateDoor = typeof lateDoor extends fc.Arbitrary<infer Request> ? Request : never
export const someLateDoor: fc.Arbitrary<LateDoor> = lateDoor

/** Whether a request may create companies as its contacts are written, and not before. */
export function createsCompanies(request: { door: string } | SourceDoor): boolean {
  return 'records' in request && request.records.some((sent) => sent.domain !== null)
}

/** Sends a request of a source. @returns its response. */
export async function sendOfSource(
  { stores }: TestService,
  { id: tenantId, handle: tenant }: TestTenant,
  services: WriteServices,
  request: SourceDoor | LateDoor,
): Promise<unknown> {
  const now = services.clock()
  const timeOf = (at: number) => new Date(now.getTime() - at * SECOND_MS).toISOString()
  // The events themselves do not take part: they are recorded after the contacts are written.
  const recordCalls = createCallRecorder({
    ...services,
    groupCommit: { record: async () => {} },
    findIdentificationKeys: async () => ({ requiresSignature: false, keys: [] }),
    sourceUsage: { note: () => {} },
    placeOf: () => NOWHERE,
  })
  switch (request.door) {
    case 'push': {
      const records = request.records.map(({ id, domain, raw, at, ...sent }) => {
        return parseRecord({
          external_id: id,
          ...(sent.email === null ? {} : { email: sent.email }),
          properties: { ...sent.properties, ...(domain === null ? {} : { company_domain: domain }) },
          ...(raw === null ? {} : { raw: { value: raw } }),
          ...(at === null ? {} : { updated_at: timeOf(at) }),
        })
      })
      return writeRecords(tenant, services, SOURCES[request.source], records)
    }
    case 'remove':
      return removeSourceRecords(tenant, services, SOURCES[request.source], request.ids)
    case 'profiles': {
      const profiles = request.profiles.map(({ keys, at, ...profile }, index) => ({
        ...keys,
        ...profile,
        id: `p${index}`,
        updated_at: timeOf(at),
      }))
      const writer = { ...SOURCES[request.source], sourceId: tenantId }
      return writeProfiles(tenant, { ...services, recordHistory: recordCalls }, writer, profiles)
    }
    case 'sdk': {
      const type = request.isBrowser ? 'browser' : 'server'
      const source = { tenantId, sourceId: tenantId, type } as const
      const sender = {
        source,
        page: { host: null, address: '', hints: null },
        userAgent: CHROME,
        sentAt: now.toISOString(),
      }
      const { clock } = services
      return recordBatch({ stores, recordCalls, clock }, sender, { batch: request.batch })
    }
  }
}
