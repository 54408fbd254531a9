import { type ExpressionBuilder, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { CONTACT_COLUMNS, propertiesOf } from '../../contacts/contact-row.ts'
import type { Properties } from '../../contacts/properties.ts'
import { summaryOf } from '../../contacts/summary.ts'
import { sourceRecords, unifiedProfileOf } from '../../contacts/unified-profile.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type EventsSummary, NO_EVENTS, summariseEvents } from './events-summary.ts'

const NOTES = 5
const ACTIONS = 10
const TEXT_LENGTH_MAX = 1_000

/** An action that an earlier run of any agent proposed for the contact. */
export interface RecentAction {
  type: string
  status: string
  at: string
  executed_at: string | null
  subject: string | null
}

/** A field on which sources disagree, or that only one source has. */
export type ProfileField = { value: unknown; sources: string[] }[]

/** All data of a contact that an agent sees. */
export interface ContactContext {
  contactId: string
  summary: string
  properties: Properties
  company: { name: string | null; domain: string | null; properties: Properties } | null
  events: EventsSummary
  unified_profile: { sources: string[]; conflicts: Record<string, ProfileField> }
  recent_actions: RecentAction[]
  notes: { content: string; at: string }[]
}

/** Reads the contexts of several contacts in a few queries; a deleted contact has none. */
export async function readContexts(
  tenant: Tenant,
  contactIds: readonly string[],
): Promise<Map<string, ContactContext>> {
  const [rows, events] = await Promise.all([
    tenant.db
      .selectFrom('contacts')
      .leftJoin('companies', 'companies.company_id', 'contacts.company_id')
      .select(CONTACT_COLUMNS.map((column) => `contacts.${column}` as const))
      .select(['companies.name as company_name', 'companies.domain as company_domain'])
      .select('companies.properties as company_properties')
      .select(shortNotes)
      .select(sourceRecords)
      .select(recentActions)
      .where('contacts.contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
      .execute(),
    summariseEvents(tenant, contactIds),
  ])
  const contexts = rows.map((row): [string, ContactContext] => {
    const properties = propertiesOf(row)
    const profile = unifiedProfileOf(row, row.source_records, false)
    const { company_id, company_name: name, company_domain: domain, company_properties } = row
    return [
      row.contact_id,
      {
        contactId: row.contact_id,
        summary: summaryOf(properties),
        properties,
        company: company_id === null ? null : { name, domain, properties: company_properties as Properties },
        events: events.get(row.contact_id) ?? NO_EVENTS,
        unified_profile: { sources: Object.keys(profile.sources), conflicts: conflictsOf(profile.profile) },
        recent_actions: row.recent_actions.map((action) => ({
          type: action.type,
          status: action.status,
          at: isoOf(action.created_at),
          executed_at: action.executed_at === null ? null : isoOf(action.executed_at),
          subject: action.subject,
        })),
        notes: row.notes.map(({ content, created_at }) => ({ content, at: isoOf(created_at) })),
      },
    ]
  })
  return new Map(contexts)
}

/** A column for a query over contacts: the beginnings of the newest notes of each. */
function shortNotes(from: ExpressionBuilder<TenantTables, 'contacts'>) {
  return jsonArrayFrom(
    from
      .selectFrom('notes')
      .select('notes.created_at')
      .select(sql<string>`left(notes.content, ${sql.lit(TEXT_LENGTH_MAX)})`.as('content'))
      .whereRef('notes.contact_id', '=', 'contacts.contact_id')
      .orderBy('notes.created_at', 'desc')
      .orderBy('notes.note_id', 'desc')
      .limit(NOTES),
  ).as('notes')
}

/** A column for a query over contacts: the newest actions of each. */
function recentActions(from: ExpressionBuilder<TenantTables, 'contacts'>) {
  return jsonArrayFrom(
    from
      .selectFrom('agent_actions')
      .select(['agent_actions.type', 'agent_actions.status', 'agent_actions.created_at', 'agent_actions.executed_at'])
      .select(sql<string | null>`agent_actions.params ->> 'subject'`.as('subject'))
      .whereRef('agent_actions.contact_id', '=', 'contacts.contact_id')
      .orderBy('agent_actions.created_at', 'desc')
      .orderBy('agent_actions.action_index')
      .limit(ACTIONS),
  ).as('recent_actions')
}

/** The properties have the winning values; the profile adds the values on which sources disagree. */
function conflictsOf(profile: ReturnType<typeof unifiedProfileOf>['profile']): Record<string, ProfileField> {
  const conflicts = Object.entries(profile).filter(([, field]) => field.has_conflict)
  return Object.fromEntries(
    conflicts.map(([key, { unique_values }]) => [
      key,
      unique_values.map(({ value, sources }) => ({ value, sources: sources.map(({ source }) => source) })),
    ]),
  )
}

/** JSON has no dates, so dates in a JSON column arrive as texts. */
function isoOf(moment: string | Date): string {
  return new Date(moment).toISOString()
}
