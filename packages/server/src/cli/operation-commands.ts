import { DOMAIN_OPERATIONS, type DomainServices } from '../access/domain-operations.ts'
import { INVITATION_OPERATIONS, type InvitationServices } from '../access/invitation-operations.ts'
import { KEY_OPERATIONS } from '../access/key-operations.ts'
import { MEMBER_OPERATIONS, type MemberServices } from '../access/member-operations.ts'
import {
  TENANT_OPERATIONS,
  type TenantServices,
  TRACKER_OPERATIONS,
  type TrackerServices,
} from '../access/settings-operations.ts'
import { ACTION_OPERATIONS } from '../agents/actions/operations.ts'
import { AGENT_OPERATIONS, type AgentServices } from '../agents/operations.ts'
import { PLAYBOOK_OPERATIONS, type PlaybookServices } from '../agents/playbooks/operations.ts'
import { RUN_OPERATIONS } from '../agents/runs/operations.ts'
import { AGGREGATE_OPERATIONS } from '../aggregate/operations.ts'
import { QUEUES } from '../assembly/workers.ts'
import { AUDIT_OPERATIONS } from '../audit/operations.ts'
import { BATCH_OPERATIONS } from '../batch/operations.ts'
import { BULK_OPERATIONS } from '../bulk/operations.ts'
import { COMPANY_OPERATIONS } from '../companies/operations.ts'
import type { WriteDependencies } from '../contacts/change-log.ts'
import type { MergeServices } from '../contacts/merging/merge.ts'
import { MERGE_OPERATIONS } from '../contacts/merging/operations.ts'
import { NOTE_OPERATIONS } from '../contacts/notes/operations.ts'
import { CONTACT_OPERATIONS, type ContactServices } from '../contacts/operations.ts'
import { MAILBOX_OPERATIONS } from '../conversations/mailbox/operations.ts'
import { CONVERSATION_OPERATIONS } from '../conversations/operations.ts'
import { refuseWhileErasing } from '../erasure/erasures.ts'
import { ERASURE_OPERATIONS } from '../erasure/operations.ts'
import { EVENT_OPERATIONS } from '../events/operations.ts'
import { IDENTIFICATION_OPERATIONS } from '../identification/operations.ts'
import { CONNECTION_OPERATIONS, type ConnectionServices } from '../identities/connection-operations.ts'
import { MAIL_OPERATIONS, type PreviewServices } from '../identities/mail/operations.ts'
import { moveMails } from '../identities/mail/reservation.ts'
import { IDENTITY_OPERATIONS } from '../identities/operations.ts'
import { openConnector } from '../identities/social/open.ts'
import { SUPPRESSION_OPERATIONS } from '../identities/suppression-operations.ts'
import { IMPORT_OPERATIONS } from '../imports/operations.ts'
import { optionsOf, readOptions } from '../operations/command-line.ts'
import type { Operation } from '../operations/declare.ts'
import { perform } from '../operations/perform.ts'
import { SCOPES } from '../operations/scopes.ts'
import { OVERVIEW_OPERATIONS } from '../overview/operations.ts'
import { VIEW_OPERATIONS } from '../overview/view-operations.ts'
import { openSecretBox } from '../platform/crypto/secret-key.ts'
import { type Jobs, openJobs } from '../platform/jobs/jobs.ts'
import { createLog } from '../platform/log.ts'
import { createMailer } from '../platform/mail.ts'
import { createApiFetch } from '../platform/outbound/api-fetch.ts'
import { createOutbound } from '../platform/outbound/client.ts'
import { createSitePages } from '../platform/outbound/site-pages.ts'
import { createTxtLookup } from '../platform/outbound/txt-records.ts'
import { systemClock } from '../platform/time.ts'
import { segmentFilters } from '../segments/list-filter.ts'
import { SEGMENT_OPERATIONS } from '../segments/operations.ts'
import { INGESTION_OPERATIONS, type IngestionServices } from '../sites/ingestion/operations.ts'
import { createCallRecorder } from '../sites/ingestion/record-calls.ts'
import { PROBLEM_OPERATIONS } from '../sites/problems/operations.ts'
import { SOURCE_OPERATIONS } from '../sources/operations.ts'
import { SOURCE_PUSH_OPERATIONS } from '../sources/push-operations.ts'
import { EXPORT_OPERATIONS } from '../tenant-export/operations.ts'
import { DELIVERY_OPERATIONS } from '../webhooks/delivery-operations.ts'
import { WEBHOOK_OPERATIONS, type WebhookServices } from '../webhooks/operations.ts'
import { type CommandOnce, existingTenant, tenant } from './command.ts'
import { withMail } from './email-account-command.ts'
import type { Session } from './session.ts'

/** Opens the services of a feature for one call, and closes them. */
type Open<Services> = <Answer>(session: Session, use: (services: Services) => Promise<Answer>) => Promise<Answer>

/** The commands derived from operations. */
export const OPERATION_COMMANDS: Record<string, CommandOnce> = {
  ...commandsOf(CONTACT_OPERATIONS, withContactServices),
  ...commandsOf(MERGE_OPERATIONS, withMergeServices),
  ...commandsOf(NOTE_OPERATIONS, withoutServices),
  ...commandsOf(COMPANY_OPERATIONS, withContactServices),
  ...commandsOf(BULK_OPERATIONS, withContactServices),
  ...commandsOf(BATCH_OPERATIONS, withoutServices),
  ...commandsOf(TENANT_OPERATIONS, withTenantServices),
  ...commandsOf(TRACKER_OPERATIONS, withConfig),
  ...commandsOf(MEMBER_OPERATIONS, withStores),
  ...commandsOf(INVITATION_OPERATIONS, withInvitationServices),
  ...commandsOf(KEY_OPERATIONS, withoutServices),
  ...commandsOf(DOMAIN_OPERATIONS, withDomainServices),
  ...commandsOf(AUDIT_OPERATIONS, withStores),
  ...commandsOf(PROBLEM_OPERATIONS, withoutServices),
  ...commandsOf(EVENT_OPERATIONS, withoutServices),
  ...commandsOf(INGESTION_OPERATIONS, withRecorder),
  ...commandsOf(AGGREGATE_OPERATIONS, withoutServices),
  ...commandsOf(IDENTIFICATION_OPERATIONS, withWriting),
  ...commandsOf(SOURCE_OPERATIONS, withoutServices),
  ...commandsOf(SOURCE_PUSH_OPERATIONS, withWriting),
  ...commandsOf(OVERVIEW_OPERATIONS, withoutServices),
  ...commandsOf(VIEW_OPERATIONS, withoutServices),
  ...commandsOf(ERASURE_OPERATIONS, withJobs),
  ...commandsOf(EXPORT_OPERATIONS, withJobs),
  ...commandsOf(IMPORT_OPERATIONS, withJobs),
  ...commandsOf(AGENT_OPERATIONS, withAgentServices),
  ...commandsOf(RUN_OPERATIONS, withJobs),
  ...commandsOf(ACTION_OPERATIONS, withJobs),
  ...commandsOf(PLAYBOOK_OPERATIONS, withAgentServices),
  ...commandsOf(SEGMENT_OPERATIONS, withoutServices),
  ...commandsOf(WEBHOOK_OPERATIONS, withWebhookServices),
  ...commandsOf(DELIVERY_OPERATIONS, withoutServices),
  ...commandsOf(CONVERSATION_OPERATIONS, withoutServices),
  ...commandsOf(IDENTITY_OPERATIONS, withoutServices),
  ...commandsOf(CONNECTION_OPERATIONS, withConnectionServices),
  ...commandsOf(MAIL_OPERATIONS, withConfig),
  ...commandsOf(MAILBOX_OPERATIONS, withoutServices),
  ...commandsOf(SUPPRESSION_OPERATIONS, withWriting),
}

/** Anyone who can run a command has access to the databases, so a command may do everything. */
const OPERATOR = {
  actor: { kind: 'command_line' } as const,
  scopes: new Set<string>(SCOPES),
  requireScope: () => {},
  requireMatch: () => {},
  isGivenUp: () => false,
}

function commandsOf<Services>(operations: readonly Operation<Services>[], open: Open<Services>) {
  const commands = operations.flatMap((operation) => {
    return operation.command === undefined ? [] : [[operation.command, commandOf(operation, open)] as const]
  })
  return Object.fromEntries(commands)
}

function commandOf<Services>(operation: Operation<Services>, open: Open<Services>): CommandOnce {
  return {
    summary: operation.summary,
    options: { tenant, ...optionsOf(operation) },
    run: async (session, values, now) => {
      const input = readOptions(operation, values)
      const warn = (text: string) => console.error(`cdsctl: ${text}`)
      const caller = { ...OPERATOR, warn }
      const context = { ...caller, tenant: session.tenant(await existingTenant(session.stores, values)), now }
      return open(session, (services) => perform(operation, { ...services, ...context }, input))
    },
    failuresOf,
  }
}

/** Describes what failed in a call whose records succeed or fail one by one. */
function failuresOf({ results, failed }: Record<string, unknown>): string | null {
  if (!Array.isArray(results) || typeof failed !== 'number' || failed === 0) return null
  return `${failed} of ${results.length} failed. The results above say why.`
}

function withoutServices<Answer>(_session: Session, use: (services: object) => Promise<Answer>): Promise<Answer> {
  return use({})
}

function withContactServices<Answer>(session: Session, use: (services: ContactServices) => Promise<Answer>) {
  return use({ ...session.writing(), config: session.config, segmentFilters })
}

function withConfig<Answer>(
  { config }: Session,
  use: (services: PreviewServices & TrackerServices) => Promise<Answer>,
) {
  return use({ config })
}

function withStores<Answer>({ stores }: Session, use: (services: MemberServices) => Promise<Answer>) {
  return use({ stores })
}

function withInvitationServices<Answer>(
  { stores, config }: Session,
  use: (services: InvitationServices) => Promise<Answer>,
): Promise<Answer> {
  return use({ stores, config, mailer: createMailer(config), log: createLog('silent') })
}

async function withDomainServices<Answer>({ config }: Session, use: (services: DomainServices) => Promise<Answer>) {
  const sitePages = createSitePages({ allowPrivate: config.webhookAllowPrivate })
  try {
    return await use({ config, lookUpTxt: createTxtLookup(), sitePages })
  } finally {
    await sitePages.close()
  }
}

async function withTenantServices<Answer>(
  { config }: Session,
  use: (services: TenantServices) => Promise<Answer>,
): Promise<Answer> {
  return use({ secrets: await openSecretBox(config) })
}

function withMergeServices<Answer>(session: Session, use: (services: MergeServices) => Promise<Answer>) {
  return use({ ...session.writing(), refuseWhileErasing, moveMails })
}

/** Commands verify what they send, and are no source. */
function withRecorder<Answer>(session: Session, use: (services: IngestionServices) => Promise<Answer>) {
  const recordCalls = createCallRecorder({
    ...session.writing(),
    groupCommit: session.groupCommit(),
    sourceUsage: { note: () => {} },
    findIdentificationKeys: async () => ({ requiresSignature: false, keys: [] }),
  })
  return use({ recordCalls })
}

function withWriting<Answer>(session: Session, use: (services: WriteDependencies) => Promise<Answer>) {
  return use(session.writing())
}

async function withConnectionServices<Answer>(
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

async function withJobs<Answer>(session: Session, use: (services: { jobs: Jobs }) => Promise<Answer>): Promise<Answer> {
  const jobs = await openJobs(session.address, QUEUES, createLog('silent'), false)
  try {
    return await use({ jobs })
  } finally {
    await jobs.stop()
  }
}

async function withAgentServices<Answer>(
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

async function withWebhookServices<Answer>(
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
