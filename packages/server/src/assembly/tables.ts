import { ACCESS_TABLES } from '../access/tables.ts'
import { AGENT_TABLES } from '../agents/tables.ts'
import { ALERT_TABLES } from '../alerts/tables.ts'
import { CLOSING_TABLES } from '../closing/tables.ts'
import { COMPANY_TABLES } from '../companies/tables.ts'
import { COMPUTED_TABLES } from '../computed/tables.ts'
import { CONNECTOR_TABLES } from '../connectors/tables.ts'
import { NOTE_TABLES } from '../contacts/notes/tables.ts'
import { CONTACT_TABLES } from '../contacts/tables.ts'
import { VISITOR_TABLES } from '../contacts/visitors/tables.ts'
import { CONVERSATION_TABLES } from '../conversations/tables.ts'
import { DUPLICATE_TABLES } from '../duplicates/tables.ts'
import { ENRICHMENT_TABLES } from '../enrichment/tables.ts'
import { ERASURE_TABLES } from '../erasure/tables.ts'
import { EVENT_IMPORT_TABLES } from '../event-imports/tables.ts'
import { HOOK_TABLES } from '../hooks/tables.ts'
import { IDENTIFICATION_TABLES } from '../identification/tables.ts'
import { IDENTITY_TABLES } from '../identities/tables.ts'
import { IMPORT_TABLES } from '../imports/tables.ts'
import { JOURNAL_TABLES } from '../journal/tables.ts'
import { MEMBERSHIP_TABLES } from '../memberships/tables.ts'
import { OPERATION_TABLES } from '../operations/tables.ts'
import { OVERVIEW_TABLES } from '../overview/tables.ts'
import { OWNER_TABLES } from '../owners/tables.ts'
import { type AllTables, listTables } from '../platform/postgres/table-rules.ts'
import { PLATFORM_TABLES } from '../platform/postgres/tables.ts'
import { PROVIDER_TABLES } from '../providers/tables.ts'
import { REPORT_TABLES } from '../reports/tables.ts'
import { SEGMENT_TABLES } from '../segments/tables.ts'
import { PROBLEM_TABLES } from '../sites/problems/tables.ts'
import { SOURCE_TABLES } from '../sources/tables.ts'
import { EXPORT_TABLES } from '../tenant-export/tables.ts'
import { WAREHOUSE_TABLES } from '../warehouse/tables.ts'
import { WEBHOOK_TABLES } from '../webhooks/tables.ts'

/**
 * Every table of the database, with what it says of itself. Whatever goes through all tables does so in this order: webhooks and
 * operations come last, because an erasure locks rows there that delivery workers and every request with an Idempotency-Key
 * wait for.
 */
const ALL = {
  ...PLATFORM_TABLES,
  ...ACCESS_TABLES,
  ...COMPANY_TABLES,
  ...CONTACT_TABLES,
  ...VISITOR_TABLES,
  ...OWNER_TABLES,
  ...IDENTIFICATION_TABLES,
  ...NOTE_TABLES,
  ...SEGMENT_TABLES,
  ...MEMBERSHIP_TABLES,
  ...DUPLICATE_TABLES,
  ...COMPUTED_TABLES,
  ...CONVERSATION_TABLES,
  ...CONNECTOR_TABLES,
  ...AGENT_TABLES,
  ...IDENTITY_TABLES,
  ...IMPORT_TABLES,
  ...EVENT_IMPORT_TABLES,
  ...HOOK_TABLES,
  ...PROBLEM_TABLES,
  ...SOURCE_TABLES,
  ...ENRICHMENT_TABLES,
  ...OVERVIEW_TABLES,
  ...REPORT_TABLES,
  ...ALERT_TABLES,
  ...PROVIDER_TABLES,
  ...EXPORT_TABLES,
  ...WAREHOUSE_TABLES,
  ...ERASURE_TABLES,
  ...CLOSING_TABLES,
  ...JOURNAL_TABLES,
  ...WEBHOOK_TABLES,
  ...OPERATION_TABLES,
} satisfies AllTables

export const TABLES = listTables(ALL)
