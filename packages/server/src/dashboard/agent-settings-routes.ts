import Type from 'typebox'
import { type AgentSettings, getAgentSettings, setAgentSettings } from '../agents/actions/settings.ts'
import { costOfMonth } from '../agents/runs/costs.ts'
import type { App } from '../platform/http/app-types.ts'
import { Nullable, success } from '../platform/http/responses.ts'
import type { Clock } from '../platform/time.ts'
import { ADMIN, VIEWER } from './access.ts'

const Settings = Type.Object({
  outreach_interval_days: Type.Integer(),
  quiet_hours: Nullable(Type.Object({ from: Type.String(), to: Type.String() })),
  time_zone: Type.String(),
  daily_limit_per_identity: Type.Integer(),
  reply_pause_days: Type.Integer(),
  monthly_cost_cap_usd: Nullable(Type.Number()),
})
const Answer = success({
  settings: Settings,
  cost_this_month_usd: Type.Number({ description: 'What models have cost since the month began (UTC).' }),
})

/** The rules that hold for all agents of the tenant. */
export function agentSettingsRoutes(app: App, { clock }: { clock: Clock }): void {
  app.get(
    '/api/agent-settings',
    { config: { access: VIEWER }, schema: { hide: true, response: { 200: Answer } } },
    async ({ tenant }) => {
      const [settings, cost] = await Promise.all([getAgentSettings(tenant), costOfMonth(tenant, clock())])
      return { status: 'success' as const, settings, cost_this_month_usd: cost }
    },
  )

  app.put(
    '/api/agent-settings',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        // Every wrong place is named by whoever keeps the settings.
        body: Type.Unsafe<Partial<AgentSettings>>({ type: 'object', additionalProperties: true }),
        response: { 200: Answer },
      },
    },
    async ({ tenant, actor, body }) => {
      const now = clock()
      const settings = await setAgentSettings(tenant, body, actor, now)
      return { status: 'success' as const, settings, cost_this_month_usd: await costOfMonth(tenant, now) }
    },
  )
}
