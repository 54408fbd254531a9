import { join } from 'node:path'
import type { Config } from '../config.ts'
import { openConnector } from '../identities/social/open.ts'
import { type Cleanup, undoAll } from '../platform/every.ts'
import { createApiFetch } from '../platform/outbound/api-fetch.ts'
import { createOutbound, type OutboundOptions } from '../platform/outbound/client.ts'
import { createConnector } from '../platform/outbound/connect.ts'
import { createJsonApi } from '../platform/outbound/json-api.ts'
import { createSitePages, type SitePagesOptions } from '../platform/outbound/site-pages.ts'
import { createTransfer } from '../platform/outbound/transfer.ts'
import type { Clock } from '../platform/time.ts'

/**
 * Everything that connects to other hosts: webhook receivers, mail servers, token endpoints, the social network,
 * connected systems, storage and model providers. Each refuses private addresses unless the configuration allows them.
 */
export function openConnections(
  config: Config,
  clock: Clock,
  { sitePort, ...options }: Partial<OutboundOptions> & Pick<SitePagesOptions, 'sitePort'> = {},
  providerUrls: Readonly<Record<string, string>> = {},
) {
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
  return {
    outbound,
    connector: createConnector({ ...options, allowPrivate: config.mailAllowPrivate }),
    tokenApi,
    providerApi,
    connectorApi,
    sitePages,
    storageTransfer,
    llmOutbound,
    social,
    close: () => undoAll(cleanup),
  }
}

export type Connections = ReturnType<typeof openConnections>
