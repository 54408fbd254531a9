import { join } from 'node:path'
import type { Config } from '../config.ts'
import { openConnector } from '../identities/social/open.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { type Cleanup, undoAll } from '../platform/every.ts'
import { createApiFetch } from '../platform/outbound/api-fetch.ts'
import { createOutbound, type OutboundOptions } from '../platform/outbound/client.ts'
import { createConnector } from '../platform/outbound/connect.ts'
import { createJsonApi } from '../platform/outbound/json-api.ts'
import { createSitePages, type SitePagesOptions } from '../platform/outbound/site-pages.ts'
import { createTransfer } from '../platform/outbound/transfer.ts'
import { createTxtLookup } from '../platform/outbound/txt-records.ts'
import type { Clock } from '../platform/time.ts'
import { systemTimer, type Timer } from '../platform/timer.ts'
import type { ProviderDependencies } from '../providers/clients.ts'

/** What tests replace. */
export interface ConnectionOptions {
  /** How addresses that users gave are called. */
  outbound?: Partial<OutboundOptions> & Pick<SitePagesOptions, 'sitePort'>
  /** Who is asked for TXT records, as `address:port`, in place of the system's name servers. */
  dnsServers?: string[]
  /** Base URLs in place of those of connected systems, by the connector's name. */
  connectorUrls?: Record<string, string>
  /** For the pauses between requests to connected systems. */
  connectorTimer?: Timer
  /** Base URLs in place of those of OAuth providers, by name. */
  providerUrls?: Record<string, string>
}

/**
 * Everything that connects to other hosts: webhook receivers, mail servers, OAuth providers, the social network,
 * connected systems, storage and model providers. Each refuses private addresses unless the configuration allows them.
 */
export function openConnections(
  replaced: ConnectionOptions,
  { config, secrets, clock }: { config: Config; secrets: SecretBox; clock: Clock },
) {
  const { outbound: given = {}, dnsServers, connectorUrls = {}, providerUrls = {} } = replaced
  const { connectorTimer: timer = systemTimer } = replaced
  const { sitePort, ...options } = given
  const { allowPrivate } = config.llm
  const outbound = createOutbound({ allowPrivate: config.webhookAllowPrivate, ...options })
  const tokenApi = createApiFetch({ ...options, allowPrivate: config.mailAllowPrivate })
  // The URLs of providers are fixed, and public; tests replace them by ones on this machine.
  const arePrivate = Object.keys(providerUrls).length > 0
  const providerApi = createApiFetch({ ...options, allowPrivate: arePrivate, allowHttp: arePrivate })
  const connectorApi = createJsonApi({
    allowPrivate: config.webhookAllowPrivate,
    temporaryDirectory: join(config.dataDirectory, 'tmp'),
    ...options,
  })
  const sitePages = createSitePages({
    allowPrivate: config.webhookAllowPrivate,
    ...options,
    ...(sitePort === undefined ? {} : { sitePort }),
  })
  const storageTransfer = createTransfer({
    ...options,
    allowPrivate: config.warehouseAllowPrivate,
    allowHttp: config.warehouseAllowPrivate,
  })
  const llmOutbound = createApiFetch({ allowPrivate, allowHttp: allowPrivate })
  const { social, close: closeSocial } = openConnector(config, clock, options)
  const cleanup: Cleanup = [closeSocial, outbound.close, tokenApi.close, connectorApi.close, sitePages.close]
  cleanup.push(llmOutbound.close, providerApi.close, storageTransfer.close)
  const providers: ProviderDependencies = { secrets, config, tokenApi: providerApi, clock, providerUrls }
  const connector = createConnector({ ...options, allowPrivate: config.mailAllowPrivate })
  return {
    outbound,
    /** Logs in at mail servers. */
    mail: { secrets, connector, tokenApi, providers, clock },
    sitePages,
    storageTransfer,
    llmOutbound,
    social,
    lookUpTxt: createTxtLookup(dnsServers),
    /** Signs people in at OAuth providers. */
    providers,
    /** Calls connected systems. */
    connecting: { secrets, providers, connectorApi, connectorUrls, clock, timer },
    close: () => undoAll(cleanup),
  }
}

export type Connections = ReturnType<typeof openConnections>
