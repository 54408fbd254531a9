import type { DomainServices } from '../access/domain-operations.ts'
import type { InvitationServices } from '../access/invitation-operations.ts'
import type { MemberServices } from '../access/member-operations.ts'
import type { LimitServices, TenantServices, TrackerServices } from '../access/settings-operations.ts'
import type { ActionServices } from '../agents/actions/queue.ts'
import type { AgentServices } from '../agents/operations.ts'
import type { PlaybookServices } from '../agents/playbooks/operations.ts'
import type { AskServices } from '../ask/operations.ts'
import { OPERATIONS } from '../assembly/all-operations.ts'
import { createPurposes } from '../assembly/purposes.ts'
import { QUEUES } from '../assembly/workers.ts'
import type { ConnectorServices } from '../connectors/operations.ts'
import type { WriteDependencies } from '../contacts/change-log.ts'
import type { MergeServices } from '../contacts/merging/merge.ts'
import type { ContactServices } from '../contacts/operations.ts'
import { refuseWhileErasing } from '../erasure/erasures.ts'
import type { HookBodyServices } from '../hooks/body-operations.ts'
import type { HookServices } from '../hooks/operations.ts'
import type { ConnectionServices } from '../identities/connection-operations.ts'
import type { LoginDependencies } from '../identities/email-accounts.ts'
import type { PreviewServices } from '../identities/mail/operations.ts'
import { moveMails } from '../identities/mail/reservation.ts'
import { openConnector } from '../identities/social/open.ts'
import type { SocialServices } from '../identities/social/operations.ts'
import { openToolServices } from '../mcp/tool-services.ts'
import type { Operation } from '../operations/declare.ts'
import { openSecretBox } from '../platform/crypto/secret-key.ts'
import { type Jobs, openJobs } from '../platform/jobs/jobs.ts'
import { createLog } from '../platform/log.ts'
import { createMailer } from '../platform/mail.ts'
import { createApiFetch } from '../platform/outbound/api-fetch.ts'
import { createOutbound } from '../platform/outbound/client.ts'
import { createConnector } from '../platform/outbound/connect.ts'
import { createJsonApi, type JsonApi } from '../platform/outbound/json-api.ts'
import { createSitePages } from '../platform/outbound/site-pages.ts'
import { createTransfer } from '../platform/outbound/transfer.ts'
import { createTxtLookup } from '../platform/outbound/txt-records.ts'
import { systemClock } from '../platform/time.ts'
import type { ProviderServices } from '../providers/operations.ts'
import { segmentFilters } from '../segments/list-filter.ts'
import type { IngestionServices } from '../sites/ingestion/operations.ts'
import { createCallRecorder } from '../sites/ingestion/record-calls.ts'
import type { WarehouseServices } from '../warehouse/operations.ts'
import type { WebhookServices } from '../webhooks/operations.ts'
import type { Session } from './session.ts'

/** Opens the services of a feature for one call, and closes them. */
export type Open<Services> = <Answer>(session: Session, use: (services: Services) => Promise<Answer>) => Promise<Answer>

export function withoutServices<Answer>(
  _session: Session,
  use: (services: object) => Promise<Answer>,
): Promise<Answer> {
  return use({})
}

export function withContactServices<Answer>(session: Session, use: (services: ContactServices) => Promise<Answer>) {
  return use({ ...session.writing(), config: session.config, segmentFilters })
}

export function withConfig<Answer>(
  { config }: Session,
  use: (services: PreviewServices & TrackerServices) => Promise<Answer>,
) {
  return use({ config })
}

export function withStores<Answer>({ stores }: Session, use: (services: MemberServices) => Promise<Answer>) {
  return use({ stores })
}

export function withInvitationServices<Answer>(
  { stores, config }: Session,
  use: (services: InvitationServices) => Promise<Answer>,
): Promise<Answer> {
  return use({ stores, config, mailer: createMailer(config), log: createLog('silent') })
}

export async function withDomainServices<Answer>(
  { config }: Session,
  use: (services: DomainServices) => Promise<Answer>,
) {
  const sitePages = createSitePages({ allowPrivate: config.webhookAllowPrivate })
  try {
    return await use({ config, lookUpTxt: createTxtLookup(), sitePages })
  } finally {
    await sitePages.close()
  }
}

export async function withTenantServices<Answer>(
  { config }: Session,
  use: (services: TenantServices) => Promise<Answer>,
): Promise<Answer> {
  return use({ secrets: await openSecretBox(config) })
}

export function withMergeServices<Answer>(session: Session, use: (services: MergeServices) => Promise<Answer>) {
  return use({ ...session.writing(), refuseWhileErasing, moveMails })
}

/** Commands verify what they send, and are not a source. */
export function withRecorder<Answer>(session: Session, use: (services: IngestionServices) => Promise<Answer>) {
  const recordCalls = createCallRecorder({
    ...session.writing(),
    groupCommit: session.groupCommit(),
    sourceUsage: { note: () => {} },
    findIdentificationKeys: async () => ({ requiresSignature: false, keys: [] }),
  })
  return use({ recordCalls })
}

export async function withHookServices<Answer>(
  { config }: Session,
  use: (services: HookServices) => Promise<Answer>,
): Promise<Answer> {
  return use({ secrets: await openSecretBox(config), config })
}

export function withHookBodyServices<Answer>(session: Session, use: (services: HookBodyServices) => Promise<Answer>) {
  return withRecorder(session, ({ recordCalls }) => use({ ...session.writing(), recordCalls }))
}

export function withWriting<Answer>(session: Session, use: (services: WriteDependencies) => Promise<Answer>) {
  return use(session.writing())
}

/** For commands that log in at mail servers or get tokens from providers. */
async function withMail<Answer>(
  { config }: Session,
  use: (mail: LoginDependencies) => Promise<Answer>,
): Promise<Answer> {
  const rules = { allowPrivate: config.mailAllowPrivate }
  const tokenApi = createApiFetch(rules)
  const providerApi = createApiFetch({ allowPrivate: false })
  try {
    const secrets = await openSecretBox(config)
    const providers = { secrets, config, tokenApi: providerApi, clock: systemClock, providerUrls: {} }
    return await use({ secrets, connector: createConnector(rules), tokenApi, providers, clock: systemClock })
  } finally {
    await Promise.all([tokenApi.close(), providerApi.close()])
  }
}

export async function withConnectionServices<Answer>(
  session: Session,
  use: (services: ConnectionServices) => Promise<Answer>,
): Promise<Answer> {
  const { social, close } = openConnector(session.config, systemClock)
  try {
    return await withMail(session, (mail) => use({ mail, social }))
  } finally {
    await close()
  }
}

export function withProviderServices<Answer>(session: Session, use: (services: ProviderServices) => Promise<Answer>) {
  return withMail(session, (mail) =>
    withConnectorApi(session, (connectorApi) =>
      use({
        authorization: {
          ...mail.providers,
          purposes: createPurposes({ mail, connecting: connectingOf(mail, connectorApi) }),
        },
      }),
    ),
  )
}

export function withConnectorServices<Answer>(session: Session, use: (services: ConnectorServices) => Promise<Answer>) {
  return withMail(session, (mail) =>
    withConnectorApi(session, (connectorApi) => use({ connecting: connectingOf(mail, connectorApi) })),
  )
}

async function withConnectorApi<Answer>({ config }: Session, use: (api: JsonApi) => Promise<Answer>): Promise<Answer> {
  const api = createJsonApi({ allowPrivate: config.webhookAllowPrivate })
  try {
    return await use(api)
  } finally {
    await api.close()
  }
}

function connectingOf({ secrets, providers, clock }: LoginDependencies, connectorApi: JsonApi) {
  return { secrets, providers, clock, connectorApi, connectorUrls: {} }
}

/** The running service calls the network for a login, so that its secrets stay in one place. */
export async function withSocial<Answer>(session: Session, use: (services: SocialServices) => Promise<Answer>) {
  const { social, close } = openConnector(session.config, systemClock)
  try {
    const secrets = await openSecretBox(session.config)
    return await withJobs(session, ({ jobs }) => use({ social, jobs, secrets, clock: systemClock }))
  } finally {
    await close()
  }
}

/** A command counts no requests: each process of the service counts its own in memory. */
export function withoutCounts<Answer>({ config }: Session, use: (services: LimitServices) => Promise<Answer>) {
  console.error('cdsctl: The requests are null: only the running service counts them. GET /v1/limits returns them.')
  return use({
    config,
    rateLimiter: { usedByApiKey: () => null, usedByTenant: () => ({ tracking: null, forms: null }) },
  })
}

export async function withJobs<Answer>(
  session: Session,
  use: (services: { jobs: Jobs }) => Promise<Answer>,
): Promise<Answer> {
  const jobs = await openJobs(session.address, QUEUES, createLog('silent'), false)
  try {
    return await use({ jobs })
  } finally {
    await jobs.stop()
  }
}

export function withActionServices<Answer>(session: Session, use: (services: ActionServices) => Promise<Answer>) {
  return withJobs(session, ({ jobs }) => use({ ...session.writing(), jobs }))
}

export async function withAgentServices<Answer>(
  session: Session,
  use: (services: AgentServices & PlaybookServices) => Promise<Answer>,
): Promise<Answer> {
  const { config } = session
  const llmOutbound = createApiFetch({ allowPrivate: config.llm.allowPrivate, allowHttp: config.llm.allowPrivate })
  try {
    return await withJobs(session, ({ jobs }) => use({ jobs, llmOutbound, config }))
  } finally {
    await llmOutbound.close()
  }
}

export async function withAskServices<Answer>(
  session: Session,
  use: (services: AskServices) => Promise<Answer>,
): Promise<Answer> {
  const { stores, config } = session
  const secrets = await openSecretBox(config)
  return withAgentServices(session, (services) => {
    const { toolServices } = openToolServices(OPERATIONS as readonly Operation<object>[], {
      services: { ...session.writing(), config, segmentFilters },
      clock: systemClock,
      invalidation: { caughtUp: async () => {} },
      isClosing: () => false,
      stores,
      secrets,
    })
    return use({ ...services, toolServices })
  })
}

export async function withWebhookServices<Answer>(
  { config }: Session,
  use: (services: WebhookServices) => Promise<Answer>,
): Promise<Answer> {
  const outbound = createOutbound({ allowPrivate: config.webhookAllowPrivate })
  try {
    return await use({ secrets: await openSecretBox(config), outbound })
  } finally {
    await outbound.close()
  }
}

export async function withWarehouseServices<Answer>(
  session: Session,
  use: (services: WarehouseServices) => Promise<Answer>,
): Promise<Answer> {
  const { config } = session
  const { warehouseAllowPrivate: allowPrivate } = config
  const storageTransfer = createTransfer({ allowPrivate, allowHttp: allowPrivate })
  try {
    const secrets = await openSecretBox(config)
    return await withJobs(session, ({ jobs }) => use({ jobs, secrets, storageTransfer, config }))
  } finally {
    await storageTransfer.close()
  }
}
