import { type AgentSettings, getAgentSettings, setAgentSettings } from '../agents/actions/settings.ts'
import { ServiceError } from '../platform/errors.ts'
import { type Command, existingTenant, optional, tenant, type Values } from './command.ts'

/** What `cdsctl agent settings` can do. */
export const AGENT_SETTINGS_COMMANDS: Record<string, Command> = {
  'agent settings': {
    summary: "Show a tenant's rules for its agents, or change those that are given",
    options: {
      tenant,
      'outreach-interval-days': optional('0-365'),
      'reply-pause-days': optional('0-365'),
      'daily-limit-per-identity': optional('NUMBER'),
      'quiet-hours': optional('HH:MM-HH:MM|none'),
      'time-zone': optional('ZONE'),
      'monthly-cost-cap-usd': optional('NUMBER|none'),
    },
    run: async (session, values, now) => {
      const opened = session.tenant(await existingTenant(session.stores, values))
      const changes = changesOf(values)
      if (Object.keys(changes).length === 0) return { ...(await getAgentSettings(opened)) }
      return { ...(await setAgentSettings(opened, changes, { kind: 'command_line' }, now)) }
    },
  },
}

/** What is given, for `setAgentSettings` to check. */
function changesOf(values: Values): Partial<AgentSettings> {
  const numbers = [
    ['outreach-interval-days', 'outreach_interval_days'],
    ['reply-pause-days', 'reply_pause_days'],
    ['daily-limit-per-identity', 'daily_limit_per_identity'],
  ] as const
  const changes: Partial<AgentSettings> = {}
  for (const [option, setting] of numbers) {
    if (values[option] !== undefined) changes[setting] = amountOf(option, String(values[option]))
  }
  const { 'quiet-hours': quiet, 'time-zone': zone, 'monthly-cost-cap-usd': cap } = values
  if (zone !== undefined) changes.time_zone = String(zone)
  if (quiet === 'none') changes.quiet_hours = null
  else if (quiet !== undefined) {
    const [from = '', to = '', ...rest] = String(quiet).split('-')
    if (rest.length > 0) throw new ServiceError(400, 'invalid_option', '--quiet-hours must be HH:MM-HH:MM or none.')
    changes.quiet_hours = { from, to }
  }
  if (cap === 'none') changes.monthly_cost_cap_usd = null
  else if (cap !== undefined) changes.monthly_cost_cap_usd = amountOf('monthly-cost-cap-usd', String(cap))
  return changes
}

function amountOf(option: string, text: string): number {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text))
    throw new ServiceError(400, 'invalid_option', `--${option} must be a number.`)
  return Number(text)
}
