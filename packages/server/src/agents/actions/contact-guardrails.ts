import { type Consent, consentsOf } from '../../contacts/consent.ts'
import type { Properties } from '../../contacts/properties.ts'
import { suppressionOf } from '../../identities/suppressions.ts'
import { firstCharacters, shown } from '../../platform/characters.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ActionType } from '../action-types.ts'
import type { Finding } from './guardrail.ts'

/**
 * The guardrails for opt-outs, in the words of any system (contacts/consent.ts), and for bounces. A contact who
 * unsubscribed is not contacted on other channels either. A bounce stops only mail.
 */
export async function consentFindings(
  tenant: Tenant,
  type: ActionType,
  properties: Properties,
  email: string | null,
): Promise<Finding[]> {
  const said = consentsOf(properties)
  const saidUnder = (rule: Consent['rule']) => said.find((each) => each.rule === rule)
  const suppression = email === null ? null : await suppressionOf(tenant, email)
  const isBounce = suppression?.reason === 'bounced'
  const marked = saidUnder('do_not_contact')
  const unsubscribed = saidUnder('unsubscribed')
  const bounced = saidUnder('bounced')
  const how =
    suppression !== null && !isBounce
      ? `${suppression.reason} on ${suppression.at.toISOString().slice(0, 10)}`
      : unsubscribed && wordsOf(unsubscribed)
  const findings: Finding[] = [
    {
      rule: 'do_not_contact',
      passed: !marked,
      message: marked ? 'The contact is marked do_not_contact.' : 'The contact may be contacted.',
    },
    {
      rule: 'unsubscribed',
      passed: how === undefined,
      message: how === undefined ? 'The contact has not unsubscribed.' : `The contact has unsubscribed (${how}).`,
    },
  ]
  if (type !== 'email_message') return findings
  const why = isBounce ? detailsOf(suppression.details) : bounced && ` (${wordsOf(bounced)})`
  const message = why === undefined ? 'No mail has bounced.' : `Mail to the contact bounced${why}.`
  return [...findings, { rule: 'bounced', passed: why === undefined, message }]
}

function wordsOf({ property, value }: Consent): string {
  return `${shown(property)} is ${shown(String(value))}`
}

export function reachable(type: ActionType, email: string | null, properties: Properties): Finding {
  const rule = 'reachable'
  if (type === 'email_message') {
    const passed = email !== null
    return { rule, passed, message: passed ? 'The contact has an email address.' : 'The contact has no email address.' }
  }
  const passed = profileUrlOf(properties) !== null
  const message = passed
    ? 'The contact has a social profile.'
    : 'The contact has no social profile: set linkedin_url or social_profile_url.'
  return { rule, passed, message }
}

/** The URL of a contact's social-network profile. */
export function profileUrlOf(properties: Properties): string | null {
  const urls = [properties.linkedin_url, properties.social_profile_url]
  return urls.find((url): url is string => typeof url === 'string' && url !== '') ?? null
}

const DETAILS_LENGTH_MAX = 200

function detailsOf(text: string | null): string {
  return text === null ? '' : `: ${firstCharacters(text, DETAILS_LENGTH_MAX)}`
}
