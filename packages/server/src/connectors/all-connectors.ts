import { ServiceError } from '../platform/errors.ts'
import { amplitude } from './amplitude/amplitude.ts'
import type { Connector } from './connector.ts'
import { hubspot } from './hubspot/hubspot.ts'
import { intercom } from './intercom/intercom.ts'
import { mixpanel } from './mixpanel/mixpanel.ts'
import { pipedrive } from './pipedrive/pipedrive.ts'
import { posthog } from './posthog/posthog.ts'
import { salesforce } from './salesforce/salesforce.ts'

/** Every connector. To add one, write its folder and list it here: see docs/connectors.md. */
export const CONNECTORS: readonly Connector[] = [hubspot, salesforce, pipedrive, posthog, mixpanel, amplitude, intercom]

/** @throws ServiceError 404 `unknown_connector` that names the connectors. */
export function connectorNamed(name: string): Connector {
  const known = CONNECTORS.find((connector) => connector.name === name)
  if (known) return known
  const names = CONNECTORS.map((connector) => connector.name).join(', ')
  throw new ServiceError(404, 'unknown_connector', `This connector does not exist. Use one of ${names}.`)
}
