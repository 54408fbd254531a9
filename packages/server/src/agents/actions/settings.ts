import { isDeepStrictEqual } from 'node:util'
import { type Actor, audit } from '../../audit/log.ts'
import { type ErrorDetail, validationError } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { isTimeZone, minuteOf, type QuietHours } from './local-time.ts'

/** A tenant's rules for what its agents may do, beside each agent's own. */
export interface AgentSettings {
  /** One outreach per contact in so many days, whichever agent it is from; 0 for no such rule. */
  outreach_interval_days: number
  /** When no outreach leaves; null for never. */
  quiet_hours: QuietHours | null
  /** Of the quiet hours where a contact has no `timezone` of its own, and of the days that limits count. */
  time_zone: string
  /** Outreach actions a day through one identity. */
  daily_limit_per_identity: number
  /** After a reply agents stay silent for so many days; 0 for no such rule. */
  reply_pause_days: number
  /** What models may cost in a calendar month (UTC); null for no cap. */
  monthly_cost_cap_usd: number | null
}

export const DEFAULT_AGENT_SETTINGS: AgentSettings = {
  outreach_interval_days: 7,
  quiet_hours: null,
  time_zone: 'UTC',
  daily_limit_per_identity: 50,
  reply_pause_days: 90,
  monthly_cost_cap_usd: null,
}

const DAYS_MAX = 365
const DAILY_LIMIT_MAX = 10_000
const COST_CAP_MAX = 1_000_000

export async function getAgentSettings(tenant: Tenant): Promise<AgentSettings> {
  const row = await tenant.db.selectFrom('agent_settings').select('settings').executeTakeFirst()
  return { ...DEFAULT_AGENT_SETTINGS, ...(row?.settings as Partial<AgentSettings> | undefined) }
}

/**
 * Changes the settings that are given; the others stay. What waits for its execution is judged by the new ones.
 * @throws ServiceError 400 naming every wrong place.
 */
export async function setAgentSettings(
  tenant: Tenant,
  changes: Partial<AgentSettings>,
  actor: Actor,
  now: Date,
): Promise<AgentSettings> {
  const details = problemsOf(changes)
  if (details.length > 0) throw validationError(details)
  return tenant.transaction(async (tx) => {
    // Made first, so that there is a row to lock: two changes at once must both be kept.
    await tx.db
      .insertInto('agent_settings')
      .values({ settings: '{}', updated_at: now })
      .onConflict((existing) => existing.columns([]).doNothing())
      .execute()
    const before = await tx.db.selectFrom('agent_settings').select('settings').forUpdate().executeTakeFirstOrThrow()
    const stored = before.settings as Partial<AgentSettings>
    const settings = { ...stored, ...changes }
    if (isDeepStrictEqual(settings, stored)) return { ...DEFAULT_AGENT_SETTINGS, ...stored }
    await tx.db
      .updateTable('agent_settings')
      .set({ settings: JSON.stringify(settings), updated_at: now })
      .execute()
    const entry = { action: 'agent_settings.updated', subjectKind: 'agent_settings', subjectId: null }
    await audit(tx, { actor, ...entry, details: { ...changes } }, now)
    return { ...DEFAULT_AGENT_SETTINGS, ...settings }
  })
}

function problemsOf(changes: Partial<AgentSettings>): ErrorDetail[] {
  return Object.entries(changes).flatMap(([name, value]) => {
    const message = Object.hasOwn(RULES, name) ? RULES[name as keyof AgentSettings](value) : 'is no setting'
    return message === null ? [] : [{ path: name.slice(0, 100), message }]
  })
}

const RULES: { [Name in keyof AgentSettings]: (value: unknown) => string | null } = {
  outreach_interval_days: wholeNumber(0, DAYS_MAX),
  quiet_hours: (value) => {
    const { from, to } = Object(value) as Partial<QuietHours>
    const isSpan = typeof from === 'string' && typeof to === 'string' && from !== to
    const isRight =
      isSpan && minuteOf(from) !== null && minuteOf(to) !== null && Object.keys(Object(value)).length === 2
    return value === null || isRight
      ? null
      : 'must be null or {"from": "HH:MM", "to": "HH:MM"} with two different times'
  },
  time_zone: (value) => (isTimeZone(value) ? null : 'must be the name of a time zone, such as Europe/Berlin'),
  daily_limit_per_identity: wholeNumber(1, DAILY_LIMIT_MAX),
  reply_pause_days: wholeNumber(0, DAYS_MAX),
  monthly_cost_cap_usd: (value) => {
    const isAmount = typeof value === 'number' && value >= 0 && value <= COST_CAP_MAX
    return value === null || isAmount ? null : `must be null or a number from 0 to ${COST_CAP_MAX}`
  },
}

function wholeNumber(min: number, max: number) {
  return (value: unknown) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
      ? null
      : `must be a whole number from ${min} to ${max}`
}
