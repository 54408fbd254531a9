import { survivorOfContact } from '../../contacts/aliases.ts'
import type { Properties } from '../../contacts/properties.ts'
import { findContact } from '../../contacts/read.ts'
import { lastInboundFrom } from '../../conversations/read.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { DAY_MS } from '../../platform/time.ts'
import { isTimeZone } from '../../platform/time-zone.ts'
import { isOutbound, OUTBOUND_TYPES } from '../action-types.ts'
import { consentFindings, reachable } from './contact-guardrails.ts'
import type { Finding, GuardedAction, Guardrail, GuardrailRule, Verdict } from './guardrail.ts'
import { quietUntil } from './local-time.ts'
import { lastOutreachAt } from './outreach.ts'
import { senderFindings } from './sender-guardrails.ts'
import { type AgentSettings, readAgentSettings } from './settings.ts'

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
  const guardrails = findings.map(({ rule, passed, message, waitUntil }) => ({
    rule,
    passed,
    message,
    waits_until: waitUntil?.toISOString() ?? null,
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
  const contact = await findContact(tenant, action.contactId)
  if (!contact) return [await contactIsGone(tenant, action.contactId)]
  if (!isOutbound(action.type)) return []
  const properties = contact.properties as Properties
  const settings = await readAgentSettings(tenant)
  const lastAt = await lastOutreachAt(tenant, action)
  return [
    ...(await consentFindings(tenant, action.type, properties, contact.email)),
    reachable(action.type, contact.email, properties),
    ...(await senderFindings(tenant, action, settings, checked, now)),
    await outreachInterval(tenant, action, lastAt, settings, checked, now),
    await replied(tenant, action, lastAt, settings, now),
    quietHours(properties, settings, now),
  ]
}

async function contactIsGone(tenant: Tenant, contactId: string): Promise<Finding> {
  const survivorId = await survivorOfContact(tenant, contactId)
  const message = survivorId === null ? 'The contact has been deleted.' : `The contact was merged into ${survivorId}.`
  return { rule: 'contact_exists', passed: false, message }
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
    const message = `An outreach reached the contact on ${lastAt.toISOString().slice(0, 10)}; at most one outreach in ${days} days is allowed.`
    return { rule, passed: false, message }
  }
  // Not checked during execution: claims are serialized, so the other outreach is already counted.
  if (checked === 'proposal' && (await hasApproved(tenant, action))) {
    return {
      rule,
      passed: false,
      message: `Another outreach is about to be sent; at most one outreach in ${days} days is allowed.`,
    }
  }
  return { rule, passed: true, message: `No outreach reached the contact in the last ${days} days.` }
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
  if (!reply) return { rule, passed: true, message: 'The contact has no unanswered reply.' }
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
    ? `Quiet hours (${hours}): waits until they end.`
    : `It is outside the quiet hours (${hours}).`
  return { rule, passed: true, message, waitUntil }
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
