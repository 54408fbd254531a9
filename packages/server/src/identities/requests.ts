import Type from 'typebox'
import { type ErrorDetail, validationError } from '../platform/errors.ts'

const LENGTH_MAX = 200
const Name = (example: string) => Type.String({ minLength: 1, maxLength: LENGTH_MAX, examples: [example] })

export const NewIdentity = { firstName: Name('Ada'), lastName: Name('Lovelace'), role: Name('Account executive') }
export type NewIdentity = Type.Static<Type.TObject<typeof NewIdentity>>

export const IdentityChanges = {
  firstName: Type.Optional(Name('Ada')),
  lastName: Type.Optional(Name('Lovelace')),
  jobTitle: Type.Optional(
    Type.Union([Type.String({ maxLength: LENGTH_MAX, examples: ['Head of sales'] }), Type.Null()], {
      description: 'null or an empty string removes the job title.',
      'x-expected': `a string of at most ${LENGTH_MAX} characters, or null for none`,
    }),
  ),
}
export type IdentityChanges = Type.Static<Type.TObject<typeof IdentityChanges>>

/** @throws ServiceError 400 that names every invalid field. */
export function parseNewIdentity({ firstName, lastName, role }: NewIdentity): NewIdentity {
  requireNames({ firstName, lastName, role })
  return { firstName: firstName.trim(), lastName: lastName.trim(), role: role.trim() }
}

/** @throws ServiceError 400 that names every invalid field. */
export function parseIdentityChanges({ jobTitle: sentTitle, ...names }: IdentityChanges): IdentityChanges {
  const jobTitle = sentTitle?.trim() || null
  requireNames({ ...names, ...(jobTitle === null ? {} : { jobTitle }) })
  const trimmed = Object.fromEntries(Object.entries(names).map(([key, value]) => [key, value.trim()]))
  return { ...trimmed, ...(sentTitle === undefined ? {} : { jobTitle }) }
}

/** Names appear in mail headers, where a line break would start another header. */
function requireNames(body: Record<string, string>): void {
  const details: ErrorDetail[] = []
  for (const [path, value] of Object.entries(body)) {
    if (value.trim() === '') details.push({ path, message: `must be a string of 1 to ${LENGTH_MAX} characters` })
    else if (/\p{Cc}|\u2028|\u2029/u.test(value.trim())) {
      details.push({ path, message: 'must not contain line breaks or other control characters' })
    }
  }
  if (details.length > 0) throw validationError(details)
}
