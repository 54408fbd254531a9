import Type from 'typebox'
import { operation } from '../../operations/declare.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { costOfMonth } from '../runs/costs.ts'
import { AGENT_SETTINGS_FIELDS, AgentSettingsObject, readAgentSettings, setAgentSettings } from './settings.ts'

const tag = 'Agents'
const SettingsOutput = {
  settings: AgentSettingsObject,
  cost_this_month_usd: Type.Number({ description: 'The cost of models in the current calendar month (UTC).' }),
}

/** The rules for all agents of a tenant. */
export const AGENT_SETTINGS_OPERATIONS = [
  operation({
    name: 'getAgentSettings',
    tag,
    http: 'GET /v1/agent-settings',
    command: 'agent-settings get',
    scope: 'agents:read',
    summary: "Get the tenant's rules for all its agents",
    input: {},
    output: SettingsOutput,
    run: ({ tenant, now }) => settingsAndCost(tenant, now),
  }),
  operation({
    name: 'updateAgentSettings',
    tag,
    http: 'PATCH /v1/agent-settings',
    command: 'agent-settings update',
    scope: 'agents:write',
    summary: "Change the tenant's rules for all its agents; omitted fields keep their values",
    input: AGENT_SETTINGS_FIELDS,
    output: SettingsOutput,
    forAudit: { changed: Type.Boolean() },
    example: { reply_pause_days: 90 },
    options: { quiet_hours: { name: 'quiet-hours', hint: 'HH:MM-HH:MM', read: readQuietHours } },
    async run({ tenant, now }, changes) {
      const changed = await setAgentSettings(tenant, changes, now)
      return { ...(await settingsAndCost(tenant, now)), changed }
    },
    audit: ({ changed }, changes) =>
      changed
        ? { action: 'agent_settings.updated', subjectKind: 'agent_settings', subjectId: null, details: changes }
        : null,
  }),
]

async function settingsAndCost(tenant: Tenant, now: Date) {
  return { settings: await readAgentSettings(tenant), cost_this_month_usd: await costOfMonth(tenant, now) }
}

/** Parses `20:00-08:00`; anything else is returned unchanged, for the schema to reject. */
function readQuietHours(text: string): unknown {
  const [from, to, ...rest] = text.split('-')
  return to === undefined || rest.length > 0 ? text : { from, to }
}
