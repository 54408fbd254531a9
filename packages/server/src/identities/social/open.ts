import type { Config } from '../../config.ts'
import { createOutbound, type OutboundOptions } from '../../platform/outbound/client.ts'
import type { Clock } from '../../platform/time.ts'
import type { SocialConnector } from './connector.ts'
import { createGateway } from './gateway.ts'
import { createSandbox } from './sandbox.ts'
import { SOCIAL_LOGINS } from './sessions.ts'
import { type StepDependencies, takeStep } from './steps.ts'
import { keepSweeping } from './sweep.ts'

/** Logins that this process drives at once; each is a short call, with pauses between. */
const CONCURRENCY = 4

/** Opens the connector that the configuration names. */
export function openConnector(
  { socialGateway }: Pick<Config, 'socialGateway'>,
  clock: Clock,
  outboundOptions: Partial<OutboundOptions> = {},
): { social: SocialConnector; close(): Promise<void> } {
  if (socialGateway === null) return { social: createSandbox(clock), close: async () => {} }
  // The operator says where the gateway is, and it may well stand beside the service; no tenant has a say in it.
  const outbound = createOutbound({ ...outboundOptions, allowPrivate: true })
  return { social: createGateway({ ...socialGateway, outbound }), close: () => outbound.close() }
}

/** Starts to work on logins here. Any number of processes may. */
export async function startSocialLogins(dependencies: StepDependencies): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController()
  const sweeping = keepSweeping(dependencies)
  await dependencies.jobs.work(SOCIAL_LOGINS, CONCURRENCY, (job, { signal }) =>
    takeStep(dependencies, job, AbortSignal.any([signal, stopping.signal])),
  )
  return {
    // Calls under way are cut off, and asked again by whoever works next.
    stop: async () => {
      stopping.abort()
      await sweeping.stop()
    },
  }
}
