import { createHmac, createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import { etagOfRow } from '../src/contacts/contact-object.ts'
import type { PropertyChanges } from '../src/contacts/properties.ts'
import { createExternalContactIds } from '../src/contacts/visitors/external-id.ts'
import { createContact, updateContact } from '../src/contacts/write.ts'
import { identificationOf } from '../src/contacts/writing/identify.ts'
import type { WriteServices } from '../src/contacts/writing/writer.ts'
import { anyVersion, ifMatch } from '../src/operations/etag.ts'
import { newId } from '../src/platform/ids.ts'
import { NONE_IGNORED } from '../src/platform/ids-of-nobody.ts'
import { NOWHERE } from '../src/platform/places.ts'
import { submitForm } from '../src/sites/forms/submit.ts'
import { EMPTY_CALL } from '../src/sites/ingestion/call.ts'
import { browserOf } from '../src/sites/ingestion/event-fields.ts'
import { createCallRecorder } from '../src/sites/ingestion/record-calls.ts'
import { identifyVisitor } from '../src/sites/track/identification.ts'
import { CHROME, type TestTenant } from './service.ts'
import type { State } from './visible-state.ts'

const SECRET = 'a secret of the tenant'
const KEYS = [{ key: createSecretKey(SECRET, 'utf8'), until: null }]
/** A value of this length fits three times into a contact. */
const LONG = 'x'.repeat(80 * 1024)
const SECOND_MS = 1_000
const FORM_PAGE = { pageHost: null, sessionId: '', ...browserOf(CHROME), place: NOWHERE }

/** Few people, so that the writes of a group are often about the same one. */
const email = fc.constantFrom('ada@example.com', 'bob@example.com', 'cyd@example.com', 'dan@example.com')
const userId = fc.constantFrom('u1', 'u2', 'u3', 'u4')
const visitorId = fc.constantFrom('v1', 'v2', 'v3', 'v4', 'v5')
const domain = fc.constantFrom('one.example', 'two.example')
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 2 })
/** Of those that there were before the group, by their creation; also merged and deleted ones. */
const contact = fc.nat(11)
const properties: fc.Arbitrary<PropertyChanges> = fc.dictionary(
  fc.constantFrom('city', 'plan', 'firstname', 'lifecyclestage', 'unsubscribed', 'long1', 'long2', 'long3', 'long4'),
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c', '', 'true', 'false') },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  { maxKeys: 3 },
)
const sentValues = properties.map((sent) =>
  Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null)),
)

/** Some writes are too large for their contact. */
function withLong(sent: Door): Door {
  return JSON.parse(JSON.stringify(sent), (key, value) => (key.startsWith('long') && value ? LONG : value))
}

const keys = fc
  .record({ email: orNull(email), userId: orNull(userId) })
  .filter((sent) => sent.email !== null || sent.userId !== null)
const visitorIds = fc.uniqueArray(visitorId, { maxLength: 2 })
const companyOf = fc.constantFrom('unchanged', 'none', 'unknown', 'known')

/**
 * Nearly all requests with a company are accepted: one that is refused undoes the group, whose writes then no longer share a
 * transaction.
 */
function withCompanyKept<Sent extends { company: object | null; properties: PropertyChanges | null }>(
  sent: Sent,
): Sent {
  const entries = Object.entries(sent.properties ?? {}).filter(([key]) => !key.startsWith('long'))
  return sent.company === null || 'lifecyclestage' in (sent.properties ?? {})
    ? sent
    : { ...sent, properties: Object.fromEntries(entries) }
}

const call = fc
  .record({
    person: fc.oneof(
      keys,
      contact.map((index) => ({ contact: index })),
    ),
    visitorId: orNull(visitorId),
    previousId: fc.option(fc.oneof(userId, visitorId), { freq: 3 }),
    properties: orNull(properties),
    company: fc.option(fc.record({ domain, name: fc.constantFrom('One', 'Two'), plan: fc.constantFrom('a', 'b') }), {
      freq: 3,
    }),
    isEvent: fc.boolean(),
  })
  .map((sent) => ('contact' in sent.person || sent.previousId !== null ? { ...sent, company: null } : sent))
  .map(withCompanyKept)

const door = fc.oneof(
  fc.record({ door: fc.constant('create'), email, properties, visitorIds, company: companyOf }),
  fc.record({
    door: fc.constant('update'),
    contact,
    email: fc.option(fc.constantFrom('ada@example.com', 'eve@example.com', 'fay@example.com'), {
      freq: 2,
      nil: undefined,
    }),
    properties,
    visitorIds,
    company: companyOf,
    match: fc.constantFrom('any', 'any', 'fresh', 'stale'),
  }),
  fc.record({ door: fc.constant('identify'), keys, visitorIds, properties }),
  fc.record({ door: fc.constant('track'), keys, visitorId, properties: sentValues, isSigned: fc.boolean() }),
  fc.record({ door: fc.constant('claim'), visitorId, id: fc.oneof(userId, contact) }),
  fc
    .record({
      door: fc.constant('form'),
      email,
      visitorId: orNull(visitorId),
      properties: sentValues,
      company: orNull(fc.record({ domain, name: fc.constantFrom('One', 'Two'), properties: sentValues })),
    })
    .map(withCompanyKept),
  fc.record({
    door: fc.constant('calls'),
    calls: fc.array(call, { minLength: 1, maxLength: 2 }),
    trust: fc.constantFrom('verified', 'unverified'),
  }),
)

/** A request of any of the doors through which contacts are written. */
export type Door = typeof door extends fc.Arbitrary<infer Request> ? Request : never
export const someDoor: fc.Arbitrary<Door> = door

/** What the requests of a group refer to: the tenant before them. */
export interface Known {
  state: State
  contactIds: readonly string[]
  requiresSignature: boolean
}

/** Sends a request. @returns its response. @throws ServiceError */
export async function send(
  { handle: tenant }: TestTenant,
  services: WriteServices,
  { state, contactIds, requiresSignature }: Known,
  sent: Door,
): Promise<unknown> {
  const request = withLong(sent)
  const findIdentificationKeys = async () => ({ requiresSignature, keys: KEYS })
  const contactAt = (index: number) => contactIds[index % contactIds.length] ?? newId()
  const known = state.companies.find((company) => company.domain === 'one.example')?.company_id
  const companyIds = { unchanged: undefined, none: null, unknown: newId(), known }
  switch (request.door) {
    case 'create': {
      const companyId = companyIds[request.company] ?? null
      const row = await createContact(tenant, services, { ...request, companyId })
      return { contactId: row.contact_id, etag: row.properties }
    }
    case 'update': {
      const contactId = contactAt(request.contact)
      const row = state.contacts.find(({ contact_id }) => contact_id === contactId)
      const fresh = row ? `"${etagOfRow(row, new Set())}"` : '"none"'
      const match = { any: anyVersion, fresh: ifMatch(fresh), stale: ifMatch('"stale"') }[request.match]
      const { email, properties, visitorIds, company } = request
      const update = { properties, visitorIds, ...(email === undefined ? {} : { email }) }
      const companyId = companyIds[company]
      const whole = { ...update, ...(companyId === undefined ? {} : { companyId }) }
      return (await updateContact(tenant, services, contactId, whole, match)).properties
    }
    case 'identify':
      return services.writer.write(tenant, identificationOf({ ...request.keys, ...request, trust: 'verified' }))
    case 'track': {
      const { keys, visitorId, properties, isSigned } = request
      const dependencies = {
        ...services,
        findIdentificationKeys,
        ignored: NONE_IGNORED,
        externalContactIds: createExternalContactIds(services),
      }
      const hash = createHmac('sha256', SECRET).update(keys.userId ?? keys.email ?? '')
      return identifyVisitor(tenant, dependencies, visitorId, {
        identify: {
          ...(keys.userId === null ? {} : { external_user_id: keys.userId }),
          traits: { ...properties, ...(keys.email === null ? {} : { email: keys.email }) },
        },
        ...(isSigned ? { user_hash: hash.digest('hex') } : {}),
      })
    }
    case 'claim': {
      const id = typeof request.id === 'string' ? request.id : contactAt(request.id)
      return createExternalContactIds(services).link(tenant, request.visitorId, id)
    }
    case 'form': {
      const { email, visitorId, company } = request
      const page = { ...FORM_PAGE, url: `https://shop.example.com/${email}?utm_source=${visitorId}` }
      const properties = request.properties as Record<string, string>
      const submission = { formId: 'f', visitorId, email, properties, page }
      const ofForm = company && { ...company, properties: company.properties as Record<string, string> }
      return submitForm(tenant, { ...services, findIdentificationKeys }, { ...submission, company: ofForm })
    }
    case 'calls': {
      // The events themselves do not take part: they are recorded after the contacts are written.
      const groupCommit = { record: async () => {} }
      const recordCalls = createCallRecorder({
        ...services,
        groupCommit,
        findIdentificationKeys,
        sourceUsage: { note: () => {} },
        placeOf: () => NOWHERE,
      })
      const sender = { sourceId: null, trust: request.trust, page: null }
      const at = services.clock().getTime()
      const calls = request.calls.map(({ person, visitorId, previousId, properties, company, isEvent }, index) => ({
        ...EMPTY_CALL,
        ...('contact' in person ? { contactId: contactAt(person.contact) } : person),
        visitorId,
        previousId,
        properties,
        company: company && {
          domain: company.domain,
          externalId: null,
          name: company.name,
          properties: { plan: company.plan },
        },
        event: isEvent ? eventAt(new Date(at - (index + 1) * 5 * SECOND_MS)) : null,
      }))
      const results = await recordCalls(tenant, sender, calls)
      return results.map((result) => ('eventId' in result ? { ...result, eventId: typeof result.eventId } : result))
    }
  }
}

function eventAt(at: Date) {
  const timestamp = at.toISOString()
  return { event: 'bought', timestamp, sentId: null, sessionId: null, context: {}, clockCorrection: 0 }
}
