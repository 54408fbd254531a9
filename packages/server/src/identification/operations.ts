import Type from 'typebox'
import { checkProperties, PropertiesInput, type PropertyChanges } from '../contacts/properties.ts'
import { namedVisitors, VisitorIds, visitorIdsOf } from '../contacts/requests.ts'
import { flattenPersonTraits } from '../contacts/traits.ts'
import { type Identification, identificationOf } from '../contacts/writing/identify.ts'
import { registerVisitors } from '../contacts/writing/visitor-rows.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { operationsWith } from '../operations/declare.ts'
import { parseEmail } from '../platform/email.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { emailInput, idInput } from '../platform/http/inputs.ts'
import { ContactId } from '../platform/http/responses.ts'
import { type IgnoredIds, ignoredId, namesNobody, nobodyDetail } from '../platform/ids-of-nobody.ts'

const FIELDS = {
  visitor_id: VisitorIds,
  user_id: Type.Optional(idInput({ description: "Your own system's id for this person." })),
  email: Type.Optional(emailInput()),
  properties: Type.Optional(PropertiesInput),
}

/** Identification from a server. */
export const IDENTIFICATION_OPERATIONS = [
  operationsWith<WriteServices>()({
    name: 'identify',
    tag: 'Contacts',
    http: 'POST /v1/identify',
    command: 'identify',
    scope: 'contacts:write',
    summary: "Identify visitors; their earlier anonymous events become the contact's",
    description:
      'Finds the contact by email, else by user_id, or creates it. Nested properties are flattened: `address: {city}` becomes `address.city`. Ids that name nobody, such as `undefined` or `null`, are ignored with the warning `ignored_id`. Returns once the earlier anonymous events of the visitors belong to the contact.',
    input: FIELDS,
    output: { contact_id: ContactId, created: Type.Boolean(), linked_visitors: Type.Integer() },
    needsBody: true,
    example: { visitor_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071', user_id: 'user-42', email: 'ada@example.com' },
    errors: ['409 computed_property', '409 too_many_visitors', '413 contact_too_large'],
    unaudited: 'recorded as events',
    isAtomic: true,
    async check({ tenant, now, memory, findIgnoredIds, warn }, fields) {
      const ignored = await findIgnoredIds(tenant)
      const parsed = parseIdentification(fields, ignored, warn)
      const visitorIds = namedVisitors(parsed.visitorIds, ignored, warn)
      // The transaction of an Idempotency-Key must not be the one that inserts them.
      if (memory.hasKey) await registerVisitors(tenant, visitorIds, now)
      return { ...parsed, visitorIds }
    },
    async run({ tenant, writer }, _fields, identification) {
      const { contactId, created } = await writer.write(tenant, identificationOf(identification))
      return { contact_id: contactId, created, linked_visitors: new Set(identification.visitorIds).size }
    },
  }),
]

function parseIdentification(
  fields: Type.Static<Type.TObject<typeof FIELDS>>,
  ignored: IgnoredIds,
  warn: (text: string) => void,
): Identification {
  const details: ErrorDetail[] = []
  const { email: sameEmail, ...properties } = flattenPersonTraits(fields.properties ?? {}) as PropertyChanges
  const email = fields.email === undefined ? null : parseEmail(fields.email)
  if (fields.email !== undefined && email === null) {
    details.push({ path: 'email', message: 'is not a valid email address' })
  }
  if (sameEmail !== undefined && (typeof sameEmail !== 'string' || parseEmail(sameEmail) !== email)) {
    details.push({ path: 'properties.email', message: 'must equal email, or be omitted' })
  }
  if (fields.email === undefined && fields.user_id === undefined) {
    details.push({ path: 'email', message: 'is required to identify the contact, unless user_id is sent' })
  }
  const { user_id: sentId } = fields
  const isNobody = sentId !== undefined && namesNobody(sentId, ignored)
  if (isNobody && fields.email === undefined) {
    details.push(nobodyDetail('user_id', sentId))
  } else if (isNobody) warn(ignoredId('user_id', sentId))
  details.push(...checkProperties(properties))
  if (details.length > 0) throw validationError(details)
  return {
    visitorIds: visitorIdsOf(fields.visitor_id),
    userId: isNobody ? null : (sentId ?? null),
    email,
    properties,
    trust: 'verified',
  }
}
