import Type from 'typebox'
import type { WriteDependencies } from '../contacts/change-log.ts'
import { checkProperties, PropertiesInput, type PropertyChanges } from '../contacts/properties.ts'
import { VisitorIds } from '../contacts/requests.ts'
import { flattenTraits } from '../contacts/traits.ts'
import { parseEmail } from '../platform/email.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { Id, success } from '../platform/http/responses.ts'
import { type Identification, identify } from './identify.ts'

const IdentifyBody = Type.Object(
  {
    visitor_id: VisitorIds,
    user_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: "Your own system's id for this person." }),
    ),
    email: Type.Optional(Type.String({ minLength: 1, maxLength: 320 })),
    properties: Type.Optional(PropertiesInput),
  },
  {
    additionalProperties: false,
    examples: [{ visitor_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071', user_id: 'user-42', email: 'ada@example.com' }],
  },
)

/** Identification from a server. */
export function identifyRoutes(app: App, dependencies: WriteDependencies): void {
  app.post(
    '/v1/identify',
    {
      config: { access: 'contacts:write' },
      schema: {
        operationId: 'identify',
        summary: "Identify visitors; their earlier anonymous events become the contact's",
        description:
          'Finds the contact by email, else by user_id, or creates it. Nested properties are flattened: `address: {city}` becomes `address.city`. Returns once the earlier anonymous events of the visitors belong to the contact.',
        tags: ['Contacts'],
        body: IdentifyBody,
        response: {
          200: success({ contact_id: Id, created: Type.Boolean(), linked_visitors: Type.Integer() }),
        },
      },
    },
    async ({ tenant, body }) => {
      const identification = parseIdentification(body)
      const { contactId, created } = await identify(tenant, dependencies, identification)
      const linked_visitors = new Set(identification.visitorIds).size
      return { status: 'success' as const, contact_id: contactId, created, linked_visitors }
    },
  )
}

function parseIdentification(body: Type.Static<typeof IdentifyBody>): Identification {
  const details: ErrorDetail[] = []
  const { email: sameEmail, ...properties } = flattenTraits(body.properties ?? {}) as PropertyChanges
  const email = body.email === undefined ? null : parseEmail(body.email)
  if (body.email !== undefined && email === null) {
    details.push({ path: 'email', message: 'is not a valid e-mail address' })
  }
  if (sameEmail !== undefined && (typeof sameEmail !== 'string' || parseEmail(sameEmail) !== email)) {
    details.push({ path: 'properties.email', message: 'must equal email, or be omitted' })
  }
  if (body.email === undefined && body.user_id === undefined) {
    details.push({ path: 'email', message: 'or user_id is required to identify the contact' })
  }
  details.push(...checkProperties(properties))
  if (details.length > 0) throw validationError(details)
  const visitorIds = [body.visitor_id ?? []].flat()
  return { visitorIds, userId: body.user_id ?? null, email, properties, trust: 'verified' }
}
