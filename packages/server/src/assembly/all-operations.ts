import { DOMAIN_OPERATIONS } from '../access/domain-operations.ts'
import { INVITATION_OPERATIONS } from '../access/invitation-operations.ts'
import { KEY_OPERATIONS } from '../access/key-operations.ts'
import { MEMBER_OPERATIONS } from '../access/member-operations.ts'
import { CONNECTED_APP_OPERATIONS } from '../access/oauth/connected-app-operations.ts'
import { LIMIT_OPERATIONS, TENANT_OPERATIONS, TRACKER_OPERATIONS } from '../access/settings-operations.ts'
import { APPROVAL_OPERATIONS } from '../agents/actions/approval-operations.ts'
import { ACTION_OPERATIONS } from '../agents/actions/operations.ts'
import { AGENT_SETTINGS_OPERATIONS } from '../agents/actions/settings-operations.ts'
import { AGENT_OPERATIONS } from '../agents/operations.ts'
import { OUTCOME_OPERATIONS } from '../agents/outcomes/operations.ts'
import { PLAYBOOK_OPERATIONS } from '../agents/playbooks/operations.ts'
import { REPLAY_OPERATIONS } from '../agents/replay/operations.ts'
import { RUN_OPERATIONS } from '../agents/runs/operations.ts'
import { AGGREGATE_OPERATIONS } from '../aggregate/operations.ts'
import { ALERT_OPERATIONS } from '../alerts/operations.ts'
import { ASK_OPERATIONS } from '../ask/operations.ts'
import { AUDIT_OPERATIONS } from '../audit/operations.ts'
import { BATCH_OPERATIONS } from '../batch/operations.ts'
import { BULK_OPERATIONS } from '../bulk/operations.ts'
import { CLOSING_OPERATIONS } from '../closing/operations.ts'
import { COMPANY_OPERATIONS } from '../companies/operations.ts'
import { COMPUTED_PROPERTY_OPERATIONS } from '../computed/operations.ts'
import { CONNECTION_OPERATIONS } from '../connectors/operations.ts'
import { MERGE_OPERATIONS } from '../contacts/merging/operations.ts'
import { NOTE_OPERATIONS } from '../contacts/notes/operations.ts'
import { CONTACT_OPERATIONS } from '../contacts/operations.ts'
import { VISITOR_OPERATIONS } from '../contacts/visitors/operations.ts'
import { MAILBOX_OPERATIONS } from '../conversations/mailbox/operations.ts'
import { CONVERSATION_OPERATIONS, CONVERSATION_PUSH_OPERATIONS } from '../conversations/operations.ts'
import { DUPLICATE_OPERATIONS } from '../duplicates/operations.ts'
import { ENRICHMENT_OPERATIONS } from '../enrichment/operations.ts'
import { ERASURE_OPERATIONS } from '../erasure/operations.ts'
import { EVENT_OPERATIONS } from '../events/operations.ts'
import { HOOK_BODY_OPERATIONS } from '../hooks/body-operations.ts'
import { HOOK_OPERATIONS } from '../hooks/operations.ts'
import { IDENTIFICATION_OPERATIONS } from '../identification/operations.ts'
import { IDENTITY_ACCOUNT_OPERATIONS } from '../identities/account-operations.ts'
import { MAIL_OPERATIONS } from '../identities/mail/operations.ts'
import { IDENTITY_OPERATIONS } from '../identities/operations.ts'
import { SOCIAL_OPERATIONS } from '../identities/social/operations.ts'
import { SUPPRESSION_OPERATIONS } from '../identities/suppression-operations.ts'
import { IMPORT_OPERATIONS } from '../imports/operations.ts'
import { INSIGHT_OPERATIONS } from '../insights/operations.ts'
import { PERSONAL_PROPERTY_OPERATIONS } from '../mcp/personal-properties/operations.ts'
import type { Operation } from '../operations/declare.ts'
import { OVERVIEW_OPERATIONS } from '../overview/operations.ts'
import { VIEW_OPERATIONS } from '../overview/view-operations.ts'
import { PROPERTY_OPERATIONS } from '../properties/operations.ts'
import { PROVIDER_OPERATIONS } from '../providers/operations.ts'
import { DASHBOARD_OPERATIONS } from '../reports/dashboard-operations.ts'
import { REPORT_OPERATIONS } from '../reports/operations.ts'
import { SHARE_OPERATIONS } from '../reports/share-operations.ts'
import { SUBSCRIPTION_OPERATIONS } from '../reports/subscription-operations.ts'
import { SEGMENT_OPERATIONS } from '../segments/operations.ts'
import { INGESTION_OPERATIONS } from '../sites/ingestion/operations.ts'
import { PROBLEM_OPERATIONS } from '../sites/problems/operations.ts'
import { SOURCE_OPERATIONS } from '../sources/operations.ts'
import { SOURCE_PUSH_OPERATIONS } from '../sources/push-operations.ts'
import { EXPORT_OPERATIONS } from '../tenant-export/operations.ts'
import { WAREHOUSE_OPERATIONS } from '../warehouse/operations.ts'
import { DELIVERY_OPERATIONS } from '../webhooks/delivery-operations.ts'
import { WEBHOOK_OPERATIONS } from '../webhooks/operations.ts'

/** The operations of each feature. */
const FEATURES = [
  // First, so that its deletion comes last in the tests that call every operation.
  CLOSING_OPERATIONS,
  CONTACT_OPERATIONS,
  MERGE_OPERATIONS,
  DUPLICATE_OPERATIONS,
  NOTE_OPERATIONS,
  VISITOR_OPERATIONS,
  ENRICHMENT_OPERATIONS,
  COMPANY_OPERATIONS,
  BULK_OPERATIONS,
  BATCH_OPERATIONS,
  TENANT_OPERATIONS,
  MEMBER_OPERATIONS,
  INVITATION_OPERATIONS,
  KEY_OPERATIONS,
  CONNECTED_APP_OPERATIONS,
  DOMAIN_OPERATIONS,
  PERSONAL_PROPERTY_OPERATIONS,
  LIMIT_OPERATIONS,
  TRACKER_OPERATIONS,
  AUDIT_OPERATIONS,
  EVENT_OPERATIONS,
  INGESTION_OPERATIONS,
  AGGREGATE_OPERATIONS,
  INSIGHT_OPERATIONS,
  REPORT_OPERATIONS,
  DASHBOARD_OPERATIONS,
  ALERT_OPERATIONS,
  SHARE_OPERATIONS,
  SUBSCRIPTION_OPERATIONS,
  IDENTIFICATION_OPERATIONS,
  SOURCE_OPERATIONS,
  SOURCE_PUSH_OPERATIONS,
  OVERVIEW_OPERATIONS,
  PROPERTY_OPERATIONS,
  COMPUTED_PROPERTY_OPERATIONS,
  VIEW_OPERATIONS,
  ERASURE_OPERATIONS,
  EXPORT_OPERATIONS,
  WAREHOUSE_OPERATIONS,
  IMPORT_OPERATIONS,
  AGENT_OPERATIONS,
  RUN_OPERATIONS,
  ACTION_OPERATIONS,
  APPROVAL_OPERATIONS,
  AGENT_SETTINGS_OPERATIONS,
  PLAYBOOK_OPERATIONS,
  OUTCOME_OPERATIONS,
  REPLAY_OPERATIONS,
  ASK_OPERATIONS,
  SEGMENT_OPERATIONS,
  WEBHOOK_OPERATIONS,
  DELIVERY_OPERATIONS,
  HOOK_OPERATIONS,
  HOOK_BODY_OPERATIONS,
  CONVERSATION_OPERATIONS,
  CONVERSATION_PUSH_OPERATIONS,
  IDENTITY_OPERATIONS,
  IDENTITY_ACCOUNT_OPERATIONS,
  MAIL_OPERATIONS,
  SOCIAL_OPERATIONS,
  MAILBOX_OPERATIONS,
  PROVIDER_OPERATIONS,
  SUPPRESSION_OPERATIONS,
  PROBLEM_OPERATIONS,
  CONNECTION_OPERATIONS,
]

type ServicesOf<Declared> = Declared extends readonly Operation<infer Needed>[] ? (needed: Needed) => void : never

/** The services that operations need besides the context. */
export type Services = ServicesOf<(typeof FEATURES)[number]> extends (needed: infer All) => void ? All : never

/**
 * Every operation: the routes under /v1, openapi.json, the commands and the tests that walk every route are derived from
 * this list.
 */
export const OPERATIONS: readonly Operation<Services>[] = FEATURES.flat()
