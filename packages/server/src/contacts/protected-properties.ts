import { plainName } from './property-names.ts'

/**
 * Properties that say whether a contact may be written to: what this service's guardrails read, and what CRMs call the
 * same. A page never sets them, and neither does an agent.
 */
export const CONSENT_PROPERTIES: readonly string[] = [
  'do_not_contact',
  'do_not_call',
  'do_not_email',
  'unsubscribed',
  'opted_out',
  'email_opt_out',
  'hs_email_optout',
  'has_opted_out_of_email',
  'bounced',
  'complained',
]

const PLAIN_NAMES = new Set(CONSENT_PROPERTIES.map(plainName))

/** Whether a property says that a contact may or may not be written to, however its name is spelled. */
export function isConsent(key: string): boolean {
  return PLAIN_NAMES.has(plainName(key))
}

/**
 * A decision about being contacted, which is stored however full a contact is. Only the names as they are listed: there is
 * no end of other spellings.
 */
export function isConsentFlag(key: string, value: unknown): boolean {
  return typeof value === 'boolean' && CONSENT_PROPERTIES.includes(key)
}
