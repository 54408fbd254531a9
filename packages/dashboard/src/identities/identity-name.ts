import type { Identity } from '../api/types.ts'

/** The name of a sender for people. */
export function identityName({ firstName, lastName }: Pick<Identity, 'firstName' | 'lastName'>): string {
  return `${firstName} ${lastName}`
}
