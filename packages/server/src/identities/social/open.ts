import type { Config } from '../../config.ts'
import { createOutbound, type OutboundOptions } from '../../platform/outbound/client.ts'
import type { Clock } from '../../platform/time.ts'
import type { SocialConnector } from './connector.ts'
import { createGateway } from './gateway.ts'
import { createSandbox } from './sandbox.ts'
import { SOCIAL_LOGINS } from './sessions.ts'
import { runStep, type StepDependencies } from './steps.ts'
import { startSweeping } from './sweep.ts'

/** Concurrent steps of logins in this process. Each is one short call. */
const CONCURRENCY = 4

/** Opens the configured connector. */
export function openConnector(
  { socialGateway }: Pick<Config, 'socialGateway'>,
  clock: Clock,
  outboundOptions: Partial<OutboundOptions> = {},
): { social: SocialConnector; close(): Promise<void> } {
  if (socialGateway === null) return { social: createSandbox(clock), close: async () => {} }
  // Private addresses are allowed, because the operator, not a tenant, sets the gateway's URL.
  const outbound = createOutbound({ ...outboundOptions, allowPrivate: true })
  return { social: createGateway({ ...socialGateway, outbound }), close: () => outbound.close() }
}

/** Starts processing logins. Several processes may run it at the same time. */
export async function startSocialLogins(dependencies: StepDependencies): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController()
  const sweeping = startSweeping(dependencies)
  await dependencies.jobs.work(SOCIAL_LOGINS, CONCURRENCY, (job, { signal }) =>
    runStep(dependencies, job, AbortSignal.any([signal, stopping.signal])),
  )
  return {
    // Aborts calls in progress. The next worker repeats them.
    stop: async () => {
      stopping.abort()
      await sweeping.stop()
    },
  }
}
