import Type from 'typebox'
import { hasMoreCharacters } from '../platform/characters.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import type { IdentityChanges, NewIdentity } from './identities.ts'

const LENGTH_MAX = 200
const Name = (example: string) => Type.String({ minLength: 1, maxLength: LENGTH_MAX, examples: [example] })

/** Body of POST /v1/identities. */
export const CreateIdentityBody = Type.Object(
  { firstName: Name('Ada'), lastName: Name('Lovelace'), role: Name('Account executive') },
  { additionalProperties: false },
)

/** Body of PUT /v1/identities/:identity_id. */
export const UpdateIdentityBody = Type.Object(
  {
    firstName: Type.Optional(Name('Ada')),
    lastName: Type.Optional(Name('Lovelace')),
    jobTitle: Type.Optional(
      Type.Union([Type.String({ maxLength: LENGTH_MAX, examples: ['Head of sales'] }), Type.Null()], {
        description: 'null or an empty text removes the job title.',
        'x-expected': `a text of at most ${LENGTH_MAX} characters, or null for none`,
      }),
    ),
  },
  { additionalProperties: false },
)

/** @throws ServiceError 400 naming every wrong place. */
export function parseNewIdentity(body: Type.Static<typeof CreateIdentityBody>): NewIdentity {
  requireNames(body)
  return { firstName: body.firstName.trim(), lastName: body.lastName.trim(), role: body.role.trim() }
}

/** @throws ServiceError 400 naming every wrong place. */
export function parseIdentityChanges({
  jobTitle: sentTitle,
  ...names
}: Type.Static<typeof UpdateIdentityBody>): IdentityChanges {
  const jobTitle = sentTitle?.trim() || null
  requireNames({ ...names, ...(jobTitle === null ? {} : { jobTitle }) })
  const trimmed = Object.fromEntries(Object.entries(names).map(([key, value]) => [key, value.trim()]))
  return { ...trimmed, ...(sentTitle === undefined ? {} : { jobTitle }) }
}

/** Names stand in the headers of mails: a blank one is no name, and a line break would end the header. */
function requireNames(body: Record<string, string>): void {
  const details: ErrorDetail[] = []
  for (const [path, value] of Object.entries(body)) {
    // The command line has no schema that looks at the length.
    if (value.trim() === '' || hasMoreCharacters(value, LENGTH_MAX))
      details.push({ path, message: `must be a text of 1 to ${LENGTH_MAX} characters` })
    else if (/\p{Cc}|\u2028|\u2029/u.test(value.trim())) {
      details.push({ path, message: 'must not hold line breaks or other control characters' })
    }
  }
  if (details.length > 0) throw validationError(details)
}
