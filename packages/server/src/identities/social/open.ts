import type { Config } from '../../config.ts'
import { createOutbound, type OutboundOptions } from '../../platform/outbound/client.ts'
import type { Clock } from '../../platform/time.ts'
import type { SocialConnector } from './connector.ts'
import { createGateway } from './gateway.ts'
import { createSandbox } from './sandbox.ts'

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
