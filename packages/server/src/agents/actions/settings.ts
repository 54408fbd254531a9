import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { type ErrorDetail, validationError } from '../../platform/errors.ts'
import { Nullable } from '../../platform/http/responses.ts'
import { WORD } from '../../platform/personal.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { problemsOfZone } from '../../platform/time-zone.ts'
import { minuteOf } from './local-time.ts'

const DAYS_MAX = 365
const DAILY_LIMIT_MAX = 10_000
const COST_CAP_MAX = 1_000_000
const QUIET_HOURS_FORM = 'must be {"from": "HH:MM", "to": "HH:MM"} with two different times, or null'

const days = (description: string) =>
  Type.Integer({
    minimum: 0,
    maximum: DAYS_MAX,
    description,
    'x-expected': `a whole number from 0 to ${DAYS_MAX}`,
  })

const FIELDS = {
  outreach_interval_days: days(
    'The minimum number of days between two outreach actions to a contact, by any agent; 0 for no limit.',
  ),
  quiet_hours: Nullable(
    Type.Object(
      { from: Type.String(WORD), to: Type.String(WORD) },
      { title: 'QuietHours', additionalProperties: false },
    ),
    'The hours in which no outreach is sent, as HH:MM; null for none.',
  ),
  time_zone: Type.String({
    description: 'An IANA name, used for contacts without a `timezone` property and for daily limits.',
    examples: ['Europe/Berlin'],
    ...WORD,
  }),
  daily_limit_per_identity: Type.Integer({
    minimum: 1,
    maximum: DAILY_LIMIT_MAX,
    description: 'Maximum outreach actions per identity and day.',
  }),
  reply_pause_days: days('The number of days after a reply in which agents send nothing; 0 for no pause.'),
  monthly_cost_cap_usd: Nullable(
    Type.Number({ minimum: 0, maximum: COST_CAP_MAX }),
    'The maximum cost of models in a calendar month (UTC); null for no cap.',
  ),
}

/** A tenant's rules for all its agents, in addition to each agent's own. */
export const AgentSettingsObject = Type.Object(FIELDS, { title: 'AgentSettings' })
export type AgentSettings = Type.Static<typeof AgentSettingsObject>

/** The settings as fields of a change. */
export const AGENT_SETTINGS_FIELDS = {
  outreach_interval_days: Type.Optional(FIELDS.outreach_interval_days),
  quiet_hours: Type.Optional({ ...FIELDS.quiet_hours, 'x-expected': QUIET_HOURS_FORM.slice('must be '.length) }),
  time_zone: Type.Optional(FIELDS.time_zone),
  daily_limit_per_identity: Type.Optional(FIELDS.daily_limit_per_identity),
  reply_pause_days: Type.Optional(FIELDS.reply_pause_days),
  monthly_cost_cap_usd: Type.Optional({
    ...FIELDS.monthly_cost_cap_usd,
    'x-expected': `a number from 0 to ${COST_CAP_MAX}, or null`,
  }),
}

export const DEFAULT_AGENT_SETTINGS: AgentSettings = {
  outreach_interval_days: 7,
  quiet_hours: null,
  time_zone: 'UTC',
  daily_limit_per_identity: 50,
  reply_pause_days: 90,
  monthly_cost_cap_usd: null,
}

export async function readAgentSettings(tenant: Tenant): Promise<AgentSettings> {
  const row = await tenant.db.selectFrom('agent_settings').select('settings').executeTakeFirst()
  return { ...DEFAULT_AGENT_SETTINGS, ...(row?.settings as Partial<AgentSettings> | undefined) }
}

/**
 * Changes the given settings; the others stay. The new ones also apply to approved actions that are not executed yet.
 * @returns whether any value changed.
 * @throws ServiceError 400 naming every invalid field.
 */
export async function setAgentSettings(tenant: Tenant, changes: Partial<AgentSettings>, now: Date): Promise<boolean> {
  const details = problemsOf(changes)
  if (details.length > 0) throw validationError(details)
  return tenant.transaction(async (tx) => {
    // Inserted first, so that there is a row to lock: concurrent changes must not overwrite each other.
    await tx.db
      .insertInto('agent_settings')
      .values({ settings: '{}', updated_at: now })
      .onConflict((existing) => existing.columns([]).doNothing())
      .execute()
    const before = await tx.db.selectFrom('agent_settings').select('settings').forUpdate().executeTakeFirstOrThrow()
    const stored = before.settings as Partial<AgentSettings>
    const settings = { ...stored, ...changes }
    if (isDeepStrictEqual(settings, stored)) return false
    await tx.db
      .updateTable('agent_settings')
      .set({ settings: JSON.stringify(settings), updated_at: now })
      .execute()
    return true
  })
}

/** What the schema of the settings cannot express. */
function problemsOf({ quiet_hours: quiet, time_zone: zone }: Partial<AgentSettings>): ErrorDetail[] {
  const details = problemsOfZone('time_zone', zone)
  if (quiet && (quiet.from === quiet.to || minuteOf(quiet.from) === null || minuteOf(quiet.to) === null)) {
    details.push({ path: 'quiet_hours', message: QUIET_HOURS_FORM })
  }
  return details
}
