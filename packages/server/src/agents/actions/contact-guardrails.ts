import type { Properties } from '../../contacts/properties.ts'
import { isYes } from '../../contacts/protected-properties.ts'
import { suppressionOf } from '../../identities/suppressions.ts'
import { firstCharacters } from '../../platform/characters.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ActionType } from '../action-types.ts'
import type { Finding } from './guardrail.ts'

export function doNotContact(properties: Properties): Finding {
  const passed = !isYes(properties.do_not_contact)
  return {
    rule: 'do_not_contact',
    passed,
    message: passed ? 'The contact may be contacted.' : 'The contact is marked do_not_contact.',
  }
}

/** An unsubscribed contact is not contacted on other channels either. A bounce only stops mail. */
export async function mailFindings(tenant: Tenant, properties: Properties, email: string | null): Promise<Finding[]> {
  const suppression = email === null ? null : await suppressionOf(tenant, email)
  const isBounce = suppression?.reason === 'bounced'
  const asked = suppression !== null && !isBounce
  const isUnsubscribed = isYes(properties.unsubscribed) || asked
  const how = asked ? ` (${suppression.reason} on ${suppression.at.toISOString().slice(0, 10)})` : ''
  return [
    {
      rule: 'unsubscribed',
      passed: !isUnsubscribed,
      message: isUnsubscribed ? `The contact has unsubscribed${how}.` : 'The contact has not unsubscribed.',
    },
    {
      rule: 'bounced',
      passed: !isBounce,
      message: isBounce ? `Mail to the contact bounced${detailsOf(suppression.details)}.` : 'No mail has bounced.',
    },
  ]
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
