import { plainName } from './property-names.ts'

/**
 * Consent properties: those that the guardrails read, and their names in CRMs. Neither a page nor an agent can set
 * them.
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

/** Whether a property is a consent property, in any spelling. */
export function isConsent(key: string): boolean {
  return PLAIN_NAMES.has(plainName(key))
}

/**
 * A consent decision, which is stored even on a full contact. Only the listed names count, because the number of other
 * spellings is unlimited.
 */
export function isConsentFlag(key: string, value: unknown): boolean {
  return typeof value === 'boolean' && CONSENT_PROPERTIES.includes(key)
}

/**
 * Other systems write these flags as texts, numbers or dates, and a form's checkbox sends `on`: anything that is not
 * clearly a no counts as a yes, because a message cannot be unsent.
 */
export function isYes(value: unknown): boolean {
  const text = String(value ?? '')
  return !['', 'false', '0', 'no', 'n', 'off', 'none', 'null'].includes(text.trim().toLowerCase())
}
