import Type from 'typebox'
import { liveApiKeys } from '../access/keys-of-tenant.ts'
import type { Config, RateLimits } from '../config.ts'
import type { App } from '../platform/http/app-types.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { Id, Nullable, success } from '../platform/http/responses.ts'
import { VIEWER } from './access.ts'

/** Keys that are shown, the busiest first: a tenant may have any number. */
const KEYS_SHOWN = 50

const LABELS: Record<keyof RateLimits, string> = {
  apiPerMinute: 'API requests of one key',
  invalidKeyPerIpPerMinute: 'Invalid API keys from one address',
  trackPerIpPerMinute: 'Tracking requests of one address',
  trackPerTenantPerMinute: 'Tracking requests of all visitors',
  scriptPerIpPerMinute: 'Loads of the tracker script by one address',
  formPerIpPerMinute: 'Submissions of one form by one address',
  formPerPersonPerMinute: 'Form submissions that name one person',
  formPerTenantPerMinute: 'Form submissions of all people',
  signInPerIpPerMinute: 'Sign-ins from one address',
  signInPerPersonPerMinute: 'Sign-ins of one person from one address',
  signInElsewherePerMinute: 'Sign-ins of one person from all new networks',
}

const Limits = success({
  enabled: Type.Boolean(),
  limits: Type.Array(Type.Object({ name: Type.String(), label: Type.String(), per_minute: Type.Integer() })),
  // Of the last minute, as this process has counted them; null where nothing is counted.
  requests: Type.Object({
    tracking: Nullable(Type.Integer()),
    forms: Nullable(Type.Integer()),
    keys: Type.Array(Type.Object({ key_id: Id, name: Type.String(), requests: Nullable(Type.Integer()) })),
  }),
})
export type Limits = Type.Static<typeof Limits>

export interface LimitDependencies {
  config: Pick<Config, 'rateLimits'>
  rateLimiter: RateLimiter
}

/** The limits that are in force, and how much of them the tenant uses. */
export function limitRoutes(app: App, { config, rateLimiter }: LimitDependencies): void {
  app.get(
    '/api/limits',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        response: {
          200: Limits,
        },
      },
    },
    async ({ tenant }) => {
      const keys = (await liveApiKeys(tenant))
        .map((key) => ({ ...key, requests: rateLimiter.usedByApiKey(key.key_id) }))
        .sort((one, other) => (other.requests ?? 0) - (one.requests ?? 0))
      const limits = Object.entries(config.rateLimits ?? {}) as [keyof RateLimits, number][]
      return {
        status: 'success' as const,
        enabled: config.rateLimits !== null,
        limits: limits.map(([name, perMinute]) => ({ name, label: LABELS[name], per_minute: perMinute })),
        requests: {
          ...rateLimiter.usedByTenant(tenant.id),
          keys: keys.slice(0, KEYS_SHOWN),
        },
      }
    },
  )
}
