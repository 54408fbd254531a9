import { hasMoreCharacters } from '../../platform/characters.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { type ErrorDetail, validationError } from '../../platform/errors.ts'

export type Secrets = Readonly<Record<string, string>>

const SECRETS_MAX = 10
const LENGTH = { min: 8, max: 4_096 }
const NAME = /^[a-z][a-z0-9_]{0,63}$/
/** Visible ASCII characters, so that a secret can be part of a header. */
const VALUE = /^[\x21-\x7e]+$/
const HIDDEN = '[secret]'

/** Where a provider's secrets are stored. They cannot be decrypted anywhere else. */
export function secretsPlace(tenantId: string, providerId: string): string {
  return `${tenantId}/${providerId}/enrichment-provider-secrets`
}

/** Secrets as they are stored; null for none. */
export function sealSecrets(box: SecretBox, place: string, values: Secrets): string | null {
  return Object.keys(values).length === 0 ? null : box.seal(JSON.stringify(values), place)
}

/** Secrets as stored. */
export function openSecrets(box: SecretBox, place: string, sealed: string | null): Secrets {
  return sealed === null ? {} : (JSON.parse(box.open(sealed, place)) as Secrets)
}

/** The secrets after a change: null removes one. No message contains a value. @throws ServiceError 400 */
export function secretsAfter(before: Secrets, changes: Readonly<Record<string, string | null>>): Secrets {
  const details = Object.entries(changes).flatMap(([name, value]): ErrorDetail[] => {
    if (!NAME.test(name)) {
      return [
        { path: 'secrets', message: 'a name must have 1 to 64 characters of a-z, 0-9 and _, and begin with a letter' },
      ]
    }
    if (value === null) return []
    const fits = value.length >= LENGTH.min && !hasMoreCharacters(value, LENGTH.max) && VALUE.test(value)
    const message = `must have ${LENGTH.min} to ${LENGTH.max} visible ASCII characters without spaces`
    return fits ? [] : [{ path: `secrets.${name}`, message }]
  })
  const after = Object.entries({ ...before, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  )
  if (after.length > SECRETS_MAX) details.push({ path: 'secrets', message: `are more than ${SECRETS_MAX}` })
  if (details.length > 0) throw validationError(details)
  return Object.fromEntries(after)
}

/** A JSON value without the secrets, which some systems repeat in their responses. */
export function withoutSecrets(value: unknown, secrets: Secrets): unknown {
  const known = Object.values(secrets)
  const hidden = (text: string) => known.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text)
  const walk = (each: unknown): unknown => {
    if (typeof each === 'string') return hidden(each)
    if (Array.isArray(each)) return each.map(walk)
    if (each === null || typeof each !== 'object') return each
    return Object.fromEntries(Object.entries(each).map(([key, inner]) => [hidden(key), walk(inner)]))
  }
  return known.length === 0 ? value : walk(value)
}
