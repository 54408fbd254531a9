import type { ExpressionBuilder } from 'kysely'
import { mergedInto, survivorOfContact } from '../../contacts/aliases.ts'
import type { Properties } from '../../contacts/properties.ts'
import { isYes } from '../../contacts/protected-properties.ts'
import { lastInboundFrom } from '../../conversations/read.ts'
import { suppressionOf } from '../../identities/suppressions.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type ActionType, isOutbound, OUTBOUND_TYPES } from '../action-types.ts'
import { dayOf, isTimeZone, quietUntil } from './local-time.ts'
import type { ActionRef } from './queue.ts'
import { type AgentSettings, getAgentSettings } from './settings.ts'

export type GuardrailRule =
  | 'contact_exists'
  | 'do_not_contact'
  | 'unsubscribed'
  | 'bounced'
  | 'reachable'
  | 'identity'
  | 'outreach_interval'
  | 'replied'
  | 'quiet_hours'
  | 'daily_limit'

/** The result of one rule. */
export interface Guardrail {
  rule: GuardrailRule
  /** false: the rule stops the action. A rule that only delays it passes, with the time until which it waits. */
  passed: boolean
  message: string
  checked: 'proposal' | 'execution'
  at: string
}

/** The action to check. */
export interface GuardedAction {
  runId: string
  contactId: string
  actionIndex: number
  agentId: string
  identityId: string | null
  type: ActionType
}

export interface Verdict {
  guardrails: Guardrail[]
  /** The first rule that stops the action permanently, even as a proposal. */
  blockedBy: Guardrail | null
  /** When it may execute; null: now. */
  waitUntil: Date | null
}

/**
 * Rules that an approval cannot overrule. The other rules of a proposal report what is missing: a contact's address or an
 * agent's identity can still be set before the action executes.
 */
const FORBIDDING: readonly GuardrailRule[] = [
  'contact_exists',
  'do_not_contact',
  'unsubscribed',
  'bounced',
  'outreach_interval',
  'replied',
]

const DAY_MS = 86_400_000

interface Finding {
  rule: GuardrailRule
  passed: boolean
  message: string
  waitUntil?: Date | null
}

/**
 * Checks all guardrails for an outreach. Actions that stay inside the service (notes, changes of properties) require only
 * that the contact exists.
 */
export async function checkGuardrails(
  tenant: Tenant,
  action: GuardedAction,
  checked: Guardrail['checked'],
  now: Date,
): Promise<Verdict> {
  const findings = await findingsOf(tenant, action, checked, now)
  const guardrails = findings.map(({ rule, passed, message }) => ({
    rule,
    passed,
    message,
    checked,
    at: now.toISOString(),
  }))
  const stops = checked === 'execution' ? undefined : FORBIDDING
  const blockedBy = guardrails.find(({ rule, passed }) => !passed && (stops?.includes(rule) ?? true)) ?? null
  const waits = findings.flatMap(({ waitUntil }) => waitUntil ?? [])
  const waitUntil = waits.length === 0 ? null : new Date(Math.max(...waits.map(Number)))
  return { guardrails, blockedBy, waitUntil }
}

async function findingsOf(
  tenant: Tenant,
  action: GuardedAction,
  checked: Guardrail['checked'],
  now: Date,
): Promise<Finding[]> {
  const contact = await tenant.db
    .selectFrom('contacts')
    .select(['email', 'properties'])
    .where('contact_id', '=', action.contactId)
    .executeTakeFirst()
  if (!contact) return [await contactIsGone(tenant, action.contactId)]
  if (!isOutbound(action.type)) return []
  const properties = contact.properties as Properties
  const settings = await getAgentSettings(tenant)
  const lastAt = await lastOutreachAt(tenant, action)
  return [
    doNotContact(properties),
    ...(await mailFindings(tenant, properties, contact.email)),
    reachable(action.type, contact.email, properties),
    identity(action.identityId),
    await outreachInterval(tenant, action, lastAt, settings, checked, now),
    await replied(tenant, action, lastAt, settings, now),
    quietHours(properties, settings, now),
    await dailyLimit(tenant, action, settings, now),
  ]
}

async function contactIsGone(tenant: Tenant, contactId: string): Promise<Finding> {
  const survivorId = await survivorOfContact(tenant, contactId)
  const message = survivorId === null ? 'The contact has been deleted.' : `The contact was merged into ${survivorId}.`
  return { rule: 'contact_exists', passed: false, message }
}

function doNotContact(properties: Properties): Finding {
  const passed = !isYes(properties.do_not_contact)
  return {
    rule: 'do_not_contact',
    passed,
    message: passed ? 'The contact may be contacted.' : 'The contact is marked do_not_contact.',
  }
}

/** An unsubscribed contact is not contacted on other channels either. A bounce only stops mail. */
async function mailFindings(tenant: Tenant, properties: Properties, email: string | null): Promise<Finding[]> {
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

function reachable(type: ActionType, email: string | null, properties: Properties): Finding {
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

function identity(identityId: string | null): Finding {
  const passed = identityId !== null
  const message = passed ? 'An identity is set.' : 'No identity to send from is set. Set one on the agent.'
  return { rule: 'identity', passed, message }
}

async function outreachInterval(
  tenant: Tenant,
  action: GuardedAction,
  lastAt: Date | null,
  { outreach_interval_days: days }: AgentSettings,
  checked: Guardrail['checked'],
  now: Date,
): Promise<Finding> {
  const rule = 'outreach_interval'
  if (days === 0) return { rule, passed: true, message: 'No interval between outreaches is set.' }
  if (lastAt && lastAt > new Date(now.getTime() - days * DAY_MS)) {
    const message = `The contact was reached on ${lastAt.toISOString().slice(0, 10)}; one in ${days} days is allowed.`
    return { rule, passed: false, message }
  }
  // Not checked during execution: claims are serialized, so the other outreach is already counted.
  if (checked === 'proposal' && (await hasApproved(tenant, action))) {
    return { rule, passed: false, message: `Another outreach is about to execute; one in ${days} days is allowed.` }
  }
  return { rule, passed: true, message: `The contact was not reached in the last ${days} days.` }
}

async function replied(
  tenant: Tenant,
  action: GuardedAction,
  lastAt: Date | null,
  { reply_pause_days: days }: AgentSettings,
  now: Date,
): Promise<Finding> {
  const rule = 'replied'
  const since = lastAt && new Date(Math.max(lastAt.getTime(), now.getTime() - days * DAY_MS))
  const reply = since && days > 0 ? await lastInboundFrom(tenant, action.contactId, since) : null
  if (!reply) return { rule, passed: true, message: 'There is no unanswered reply.' }
  const message = `The contact replied on ${reply.sentAt.toISOString().slice(0, 10)}: a person should answer.`
  return { rule, passed: false, message }
}

function quietHours(properties: Properties, { quiet_hours, time_zone }: AgentSettings, now: Date): Finding {
  const rule = 'quiet_hours'
  if (quiet_hours === null) return { rule, passed: true, message: 'No quiet hours are set.' }
  const zone = [properties.timezone, time_zone].find(isTimeZone) ?? 'UTC'
  const waitUntil = quietUntil(quiet_hours, zone, now)
  const hours = `${quiet_hours.from} to ${quiet_hours.to} in ${zone}`
  const message = waitUntil
    ? `Quiet hours (${hours}): waits till they end.`
    : `It is outside the quiet hours (${hours}).`
  return { rule, passed: true, message, waitUntil }
}

async function dailyLimit(
  tenant: Tenant,
  { identityId, ...asked }: GuardedAction,
  { daily_limit_per_identity: limit, time_zone }: AgentSettings,
  now: Date,
): Promise<Finding> {
  const rule = 'daily_limit'
  if (identityId === null) return { rule, passed: true, message: 'No identity has sent anything.' }
  const { start, end } = dayOf(time_zone, now)
  const { sent } = await tenant.db
    .selectFrom('agent_outreach')
    .select(({ fn }) => fn.countAll<number>().as('sent'))
    .where('identity_id', '=', identityId)
    .where(others(asked))
    .where('at', '>=', start)
    .where('at', '<', end)
    .executeTakeFirstOrThrow()
  const isReached = Number(sent) >= limit
  const used = `${sent} of ${limit} outreach actions a day`
  const message = `The identity has made ${used}${isReached ? ': waits until tomorrow' : ''}.`
  return { rule, passed: true, message, waitUntil: isReached ? end : null }
}

/** When an agent last reached a contact or one merged into it, apart from the checked action. */
async function lastOutreachAt(tenant: Tenant, checked: GuardedAction): Promise<Date | null> {
  const merged = await mergedInto(tenant, checked.contactId)
  const row = await tenant.db
    .selectFrom('agent_outreach')
    .select('at')
    .where('contact_id', 'in', [checked.contactId, ...merged])
    .where(others(checked))
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.at ?? null
}

/** A condition that excludes the checked action's own outreach, which an earlier attempt may have counted. */
function others({ runId, contactId, actionIndex }: ActionRef) {
  return ({ not, and, eb }: ExpressionBuilder<TenantTables, 'agent_outreach'>) =>
    not(and([eb('run_id', '=', runId), eb('contact_id', '=', contactId), eb('action_index', '=', actionIndex)]))
}

async function hasApproved(tenant: Tenant, { contactId }: GuardedAction): Promise<boolean> {
  const row = await tenant.db
    .selectFrom('agent_actions')
    .select('action_index')
    .where('contact_id', '=', contactId)
    .where('status', '=', 'approved')
    .where('type', 'in', OUTBOUND_TYPES)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

function detailsOf(text: string | null): string {
  return text === null ? '' : `: ${text.slice(0, 200)}`
}
