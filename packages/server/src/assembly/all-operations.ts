import { DOMAIN_OPERATIONS, type DomainServices } from '../access/domain-operations.ts'
import { INVITATION_OPERATIONS, type InvitationServices } from '../access/invitation-operations.ts'
import { KEY_OPERATIONS } from '../access/key-operations.ts'
import { MEMBER_OPERATIONS, type MemberServices } from '../access/member-operations.ts'
import { CONNECTED_APP_OPERATIONS, type ConnectedAppServices } from '../access/oauth/connected-app-operations.ts'
import {
  LIMIT_OPERATIONS,
  type LimitServices,
  TENANT_OPERATIONS,
  type TenantServices,
  TRACKER_OPERATIONS,
  type TrackerServices,
} from '../access/settings-operations.ts'
import { ACTION_OPERATIONS } from '../agents/actions/operations.ts'
import type { ActionServices } from '../agents/actions/queue.ts'
import { AGENT_OPERATIONS, type AgentServices } from '../agents/operations.ts'
import { PLAYBOOK_OPERATIONS, type PlaybookServices } from '../agents/playbooks/operations.ts'
import { RUN_OPERATIONS, type RunServices } from '../agents/runs/operations.ts'
import { AGGREGATE_OPERATIONS } from '../aggregate/operations.ts'
import { ASK_OPERATIONS, type AskServices } from '../ask/operations.ts'
import { AUDIT_OPERATIONS } from '../audit/operations.ts'
import type { AuditServices } from '../audit/subjects.ts'
import { BATCH_OPERATIONS } from '../batch/operations.ts'
import { BULK_OPERATIONS } from '../bulk/operations.ts'
import { COMPANY_OPERATIONS } from '../companies/operations.ts'
import { CONNECTOR_OPERATIONS, type ConnectorServices } from '../connectors/operations.ts'
import type { MergeServices } from '../contacts/merging/merge.ts'
import { MERGE_OPERATIONS } from '../contacts/merging/operations.ts'
import { NOTE_OPERATIONS } from '../contacts/notes/operations.ts'
import { CONTACT_OPERATIONS, type ContactServices } from '../contacts/operations.ts'
import { MAILBOX_OPERATIONS } from '../conversations/mailbox/operations.ts'
import { CONVERSATION_OPERATIONS, CONVERSATION_PUSH_OPERATIONS } from '../conversations/operations.ts'
import { ERASURE_OPERATIONS, type ErasureServices } from '../erasure/operations.ts'
import { EVENT_OPERATIONS, type EventServices } from '../events/operations.ts'
import { HOOK_BODY_OPERATIONS, type HookBodyServices } from '../hooks/body-operations.ts'
import { HOOK_OPERATIONS, type HookServices } from '../hooks/operations.ts'
import { IDENTIFICATION_OPERATIONS } from '../identification/operations.ts'
import { CONNECTION_OPERATIONS, type ConnectionServices } from '../identities/connection-operations.ts'
import { MAIL_OPERATIONS, type PreviewServices } from '../identities/mail/operations.ts'
import { IDENTITY_OPERATIONS } from '../identities/operations.ts'
import { SOCIAL_OPERATIONS, type SocialServices } from '../identities/social/operations.ts'
import { SUPPRESSION_OPERATIONS } from '../identities/suppression-operations.ts'
import { IMPORT_OPERATIONS } from '../imports/operations.ts'
import type { ImportServices } from '../imports/transitions.ts'
import type { Operation } from '../operations/declare.ts'
import { OVERVIEW_OPERATIONS } from '../overview/operations.ts'
import { VIEW_OPERATIONS } from '../overview/view-operations.ts'
import { PROVIDER_OPERATIONS, type ProviderServices } from '../providers/operations.ts'
import { SEGMENT_OPERATIONS } from '../segments/operations.ts'
import { INGESTION_OPERATIONS, type IngestionServices } from '../sites/ingestion/operations.ts'
import { PROBLEM_OPERATIONS } from '../sites/problems/operations.ts'
import { SOURCE_OPERATIONS } from '../sources/operations.ts'
import { SOURCE_PUSH_OPERATIONS } from '../sources/push-operations.ts'
import { EXPORT_OPERATIONS, type ExportServices } from '../tenant-export/operations.ts'
import { WAREHOUSE_OPERATIONS, type WarehouseServices } from '../warehouse/operations.ts'
import { DELIVERY_OPERATIONS } from '../webhooks/delivery-operations.ts'
import { WEBHOOK_OPERATIONS, type WebhookServices } from '../webhooks/operations.ts'

/** What operations need besides the context. */
export type Services = ActionServices &
  AgentServices &
  AskServices &
  AuditServices &
  ConnectedAppServices &
  ConnectionServices &
  ConnectorServices &
  ContactServices &
  DomainServices &
  ErasureServices &
  EventServices &
  ExportServices &
  HookBodyServices &
  HookServices &
  ImportServices &
  IngestionServices &
  InvitationServices &
  LimitServices &
  MemberServices &
  PlaybookServices &
  PreviewServices &
  ProviderServices &
  RunServices &
  TrackerServices &
  SocialServices &
  TenantServices &
  WarehouseServices &
  WebhookServices &
  MergeServices

/** Every operation: the routes under /v1, openapi.json and the tests that walk every route are derived from this list. */
export const OPERATIONS: readonly Operation<Services>[] = [
  ...CONTACT_OPERATIONS,
  ...MERGE_OPERATIONS,
  ...NOTE_OPERATIONS,
  ...COMPANY_OPERATIONS,
  ...BULK_OPERATIONS,
  ...BATCH_OPERATIONS,
  ...TENANT_OPERATIONS,
  ...MEMBER_OPERATIONS,
  ...INVITATION_OPERATIONS,
  ...KEY_OPERATIONS,
  ...CONNECTED_APP_OPERATIONS,
  ...DOMAIN_OPERATIONS,
  ...LIMIT_OPERATIONS,
  ...TRACKER_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...INGESTION_OPERATIONS,
  ...AGGREGATE_OPERATIONS,
  ...IDENTIFICATION_OPERATIONS,
  ...SOURCE_OPERATIONS,
  ...SOURCE_PUSH_OPERATIONS,
  ...OVERVIEW_OPERATIONS,
  ...VIEW_OPERATIONS,
  ...ERASURE_OPERATIONS,
  ...EXPORT_OPERATIONS,
  ...WAREHOUSE_OPERATIONS,
  ...IMPORT_OPERATIONS,
  ...AGENT_OPERATIONS,
  ...RUN_OPERATIONS,
  ...ACTION_OPERATIONS,
  ...PLAYBOOK_OPERATIONS,
  ...ASK_OPERATIONS,
  ...SEGMENT_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...DELIVERY_OPERATIONS,
  ...HOOK_OPERATIONS,
  ...HOOK_BODY_OPERATIONS,
  ...CONVERSATION_OPERATIONS,
  ...CONVERSATION_PUSH_OPERATIONS,
  ...IDENTITY_OPERATIONS,
  ...CONNECTION_OPERATIONS,
  ...MAIL_OPERATIONS,
  ...SOCIAL_OPERATIONS,
  ...MAILBOX_OPERATIONS,
  ...PROVIDER_OPERATIONS,
  ...SUPPRESSION_OPERATIONS,
  ...PROBLEM_OPERATIONS,
  ...CONNECTOR_OPERATIONS,
]
