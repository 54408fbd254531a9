import { describeEmailAccount } from '../../identities/email-accounts.ts'
import { nextSend } from '../../identities/mail/limits.ts'
import { socialStates } from '../../identities/social/profiles.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Finding, GuardedAction, Guardrail } from './guardrail.ts'
import { dayOf } from './local-time.ts'
import { outreachOf } from './outreach.ts'
import type { AgentSettings } from './settings.ts'

/**
 * The rules about the sender. Whether it is connected is checked before a decision only: an attempt to send reports it
 * with an error of its own, and a mailbox's limits delay the attempt.
 */
export async function senderFindings(
  tenant: Tenant,
  action: GuardedAction,
  settings: AgentSettings,
  checked: Guardrail['checked'],
  now: Date,
): Promise<Finding[]> {
  const { identityId, type } = action
  if (identityId === null) {
    return [{ rule: 'identity', passed: false, message: 'No identity to send from is set. Set one on the agent.' }]
  }
  const isMail = type === 'email_message'
  const connection = isMail ? mailboxFindings : socialFindings
  return [
    { rule: 'identity', passed: true, message: 'An identity is set.' },
    ...(checked === 'proposal' ? await connection(tenant, identityId, now) : []),
    await dailyLimit(tenant, identityId, action, settings, now),
  ]
}

async function mailboxFindings(tenant: Tenant, identityId: string, now: Date): Promise<Finding[]> {
  const rule = 'mailbox'
  const account = await describeEmailAccount(tenant, identityId)
  if (account === null) {
    return [{ rule, passed: false, message: 'The identity has no mailbox to send from. Connect one.' }]
  }
  const { address, connected, daily_limit: dailyLimit, spacing_seconds: spacingSeconds } = account
  if (!connected) {
    const message = `The mail server rejects the login of ${address}. Check the mailbox of the identity.`
    return [{ rule, passed: false, message }]
  }
  const limit = await nextSend(tenant, { identityId, dailyLimit, spacingSeconds }, now)
  return [
    { rule, passed: true, message: `The mailbox ${address} is connected.` },
    {
      rule: 'mailbox_limit',
      passed: true,
      message:
        limit === null
          ? 'The mailbox is within its limits.'
          : limit.code === 'mail_daily_limit'
            ? `The mailbox has sent ${dailyLimit} emails in 24 hours, its limit: waits until it may send again.`
            : `The mailbox pauses ${spacingSeconds} seconds between two emails: waits until the pause ends.`,
      waitUntil: limit?.at ?? null,
    },
  ]
}

async function socialFindings(tenant: Tenant, identityId: string): Promise<Finding[]> {
  const state = (await socialStates(tenant, [identityId])).get(identityId)
  const isKnown = state !== undefined && state.profile_id !== null
  const message = !isKnown
    ? 'The identity has no profile on the social network. Log in first.'
    : state.connected
      ? 'The identity is logged in to the social network.'
      : 'The login of the identity to the social network has expired. Log in again.'
  return [{ rule: 'social_profile', passed: isKnown && state.connected, message }]
}

async function dailyLimit(
  tenant: Tenant,
  identityId: string,
  action: GuardedAction,
  { daily_limit_per_identity: limit, time_zone }: AgentSettings,
  now: Date,
): Promise<Finding> {
  const day = dayOf(time_zone, now)
  const sent = await outreachOf(tenant, identityId, day, action)
  const isReached = sent >= limit
  const used = `${sent} of ${limit} messages a day`
  const message = `The identity has sent ${used}${isReached ? ': waits until tomorrow' : ''}.`
  return { rule: 'daily_limit', passed: true, message, waitUntil: isReached ? day.end : null }
}
