import { DOMAIN_OPERATIONS } from '../access/domain-operations.ts'
import { INVITATION_OPERATIONS } from '../access/invitation-operations.ts'
import { KEY_OPERATIONS } from '../access/key-operations.ts'
import { MEMBER_OPERATIONS } from '../access/member-operations.ts'
import { CONNECTED_APP_OPERATIONS } from '../access/oauth/connected-app-operations.ts'
import { LIMIT_OPERATIONS, TENANT_OPERATIONS, TRACKER_OPERATIONS } from '../access/settings-operations.ts'
import { ACTION_OPERATIONS } from '../agents/actions/operations.ts'
import { AGENT_OPERATIONS } from '../agents/operations.ts'
import { PLAYBOOK_OPERATIONS } from '../agents/playbooks/operations.ts'
import { RUN_OPERATIONS } from '../agents/runs/operations.ts'
import { AGGREGATE_OPERATIONS } from '../aggregate/operations.ts'
import { ASK_OPERATIONS } from '../ask/operations.ts'
import { AUDIT_OPERATIONS } from '../audit/operations.ts'
import { BATCH_OPERATIONS } from '../batch/operations.ts'
import { BULK_OPERATIONS } from '../bulk/operations.ts'
import { COMPANY_OPERATIONS } from '../companies/operations.ts'
import { CONNECTOR_OPERATIONS } from '../connectors/operations.ts'
import { MERGE_OPERATIONS } from '../contacts/merging/operations.ts'
import { NOTE_OPERATIONS } from '../contacts/notes/operations.ts'
import { CONTACT_OPERATIONS } from '../contacts/operations.ts'
import { MAILBOX_OPERATIONS } from '../conversations/mailbox/operations.ts'
import { CONVERSATION_OPERATIONS, CONVERSATION_PUSH_OPERATIONS } from '../conversations/operations.ts'
import { ERASURE_OPERATIONS } from '../erasure/operations.ts'
import { EVENT_OPERATIONS } from '../events/operations.ts'
import { HOOK_BODY_OPERATIONS } from '../hooks/body-operations.ts'
import { HOOK_OPERATIONS } from '../hooks/operations.ts'
import { IDENTIFICATION_OPERATIONS } from '../identification/operations.ts'
import { CONNECTION_OPERATIONS } from '../identities/connection-operations.ts'
import { MAIL_OPERATIONS } from '../identities/mail/operations.ts'
import { IDENTITY_OPERATIONS } from '../identities/operations.ts'
import { SOCIAL_OPERATIONS } from '../identities/social/operations.ts'
import { SUPPRESSION_OPERATIONS } from '../identities/suppression-operations.ts'
import { IMPORT_OPERATIONS } from '../imports/operations.ts'
import { optionsOf, readOptions } from '../operations/command-line.ts'
import type { Operation } from '../operations/declare.ts'
import { perform } from '../operations/perform.ts'
import { SCOPES } from '../operations/scopes.ts'
import { OVERVIEW_OPERATIONS } from '../overview/operations.ts'
import { VIEW_OPERATIONS } from '../overview/view-operations.ts'
import { PROVIDER_OPERATIONS } from '../providers/operations.ts'
import { SEGMENT_OPERATIONS } from '../segments/operations.ts'
import { INGESTION_OPERATIONS } from '../sites/ingestion/operations.ts'
import { PROBLEM_OPERATIONS } from '../sites/problems/operations.ts'
import { SOURCE_OPERATIONS } from '../sources/operations.ts'
import { SOURCE_PUSH_OPERATIONS } from '../sources/push-operations.ts'
import { EXPORT_OPERATIONS } from '../tenant-export/operations.ts'
import { WAREHOUSE_OPERATIONS } from '../warehouse/operations.ts'
import { DELIVERY_OPERATIONS } from '../webhooks/delivery-operations.ts'
import { WEBHOOK_OPERATIONS } from '../webhooks/operations.ts'
import { type CommandOnce, existingTenant, tenant } from './command.ts'
import { fileProblem, withContents } from './operation-input.ts'
import {
  type Open,
  withActionServices,
  withAgentServices,
  withAskServices,
  withAuditServices,
  withConfig,
  withConnectionServices,
  withConnectorServices,
  withContactServices,
  withDomainServices,
  withHookBodyServices,
  withHookServices,
  withInvitationServices,
  withJobs,
  withMergeServices,
  withoutCounts,
  withoutServices,
  withPeople,
  withProviderServices,
  withRecorder,
  withSocial,
  withStores,
  withTenantServices,
  withWarehouseServices,
  withWebhookServices,
  withWriting,
} from './operation-services.ts'

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
  ...commandsOf(CONNECTED_APP_OPERATIONS, withStores),
  ...commandsOf(DOMAIN_OPERATIONS, withDomainServices),
  ...commandsOf(LIMIT_OPERATIONS, withoutCounts),
  ...commandsOf(AUDIT_OPERATIONS, withAuditServices),
  ...commandsOf(PROBLEM_OPERATIONS, withoutServices),
  ...commandsOf(EVENT_OPERATIONS, withPeople),
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
  ...commandsOf(WAREHOUSE_OPERATIONS, withWarehouseServices),
  ...commandsOf(AGENT_OPERATIONS, withAgentServices),
  ...commandsOf(RUN_OPERATIONS, withJobs),
  ...commandsOf(ACTION_OPERATIONS, withActionServices),
  ...commandsOf(PLAYBOOK_OPERATIONS, withAgentServices),
  ...commandsOf(ASK_OPERATIONS, withAskServices),
  ...commandsOf(SEGMENT_OPERATIONS, withoutServices),
  ...commandsOf(WEBHOOK_OPERATIONS, withWebhookServices),
  ...commandsOf(DELIVERY_OPERATIONS, withoutServices),
  ...commandsOf(HOOK_OPERATIONS, withHookServices),
  ...commandsOf(HOOK_BODY_OPERATIONS, withHookBodyServices),
  ...commandsOf(CONVERSATION_OPERATIONS, withoutServices),
  ...commandsOf(CONVERSATION_PUSH_OPERATIONS, withWriting),
  ...commandsOf(IDENTITY_OPERATIONS, withoutServices),
  ...commandsOf(CONNECTION_OPERATIONS, withConnectionServices),
  ...commandsOf(CONNECTOR_OPERATIONS, withConnectorServices),
  ...commandsOf(MAIL_OPERATIONS, withConfig),
  ...commandsOf(SOCIAL_OPERATIONS, withSocial),
  ...commandsOf(MAILBOX_OPERATIONS, withoutServices),
  ...commandsOf(PROVIDER_OPERATIONS, withProviderServices),
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
  return Object.fromEntries(operations.map((operation) => [operation.command, commandOf(operation, open)]))
}

function commandOf<Services>(operation: Operation<Services>, open: Open<Services>): CommandOnce {
  return {
    summary: operation.summary,
    options: { tenant, ...optionsOf(operation) },
    check: (values) => fileProblem(operation, values),
    run: async (session, values, now) => {
      const input = readOptions(operation, await withContents(operation, values))
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
