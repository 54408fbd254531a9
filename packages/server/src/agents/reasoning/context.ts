import { sql } from 'kysely'
import type { CompanyRow } from '../../companies/company-object.ts'
import { findCompanies } from '../../companies/list.ts'
import { type Consent, consentOf } from '../../contacts/consent.ts'
import { propertiesOf } from '../../contacts/contact-row.ts'
import type { Properties } from '../../contacts/properties.ts'
import { findProfiles } from '../../contacts/read.ts'
import { summaryOf } from '../../contacts/summary.ts'
import { unifiedProfileOf } from '../../contacts/unified-profile.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type EventsSummary, NO_EVENTS, summarizeEvents } from './events-summary.ts'

const NOTES = 5
const ACTIONS = 10
const NOTE_LENGTH_MAX = 1_000

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
  /** What created the contact, such as `manual`, `import` or the name of a connector, and when. */
  origin: { source: string; at: Date }
  /** The property that says not to write to the contact. */
  consent: Consent | null
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
  const [rows, actions, events] = await Promise.all([
    findProfiles(tenant, contactIds, { limit: NOTES, length: NOTE_LENGTH_MAX }),
    recentActions(tenant, contactIds),
    summarizeEvents(tenant, contactIds),
  ])
  const companyIds = rows.flatMap(({ company_id }) => company_id ?? [])
  const companies = new Map((await findCompanies(tenant, companyIds)).map((row) => [row.company_id, row]))
  const contexts = rows.map((row): [string, ContactContext] => {
    const properties = propertiesOf(row)
    const profile = unifiedProfileOf(row, row.source_records, false)
    const company = companies.get(row.company_id ?? '')
    return [
      row.contact_id,
      {
        contactId: row.contact_id,
        summary: summaryOf(properties),
        properties,
        origin: { source: row.creation_source, at: row.created_at },
        consent: consentOf(properties),
        company: company ? toCompanyContext(company) : null,
        events: events.get(row.contact_id) ?? NO_EVENTS,
        unified_profile: { sources: Object.keys(profile.sources), conflicts: conflictsOf(profile.profile) },
        recent_actions: actions.get(row.contact_id) ?? [],
        // JSON has no dates, so dates in a JSON column arrive as texts.
        notes: row.note_beginnings.map(({ content, created_at }) => ({
          content,
          at: new Date(created_at).toISOString(),
        })),
      },
    ]
  })
  return new Map(contexts)
}

function toCompanyContext({ name, domain, properties }: CompanyRow): ContactContext['company'] {
  return { name, domain, properties: properties as Properties }
}

/** The newest actions of each contact. */
async function recentActions(tenant: Tenant, contactIds: readonly string[]): Promise<Map<string, RecentAction[]>> {
  const rows = await tenant.db
    .selectFrom(sql<{ contact_id: string }>`unnest(${contactIds}::uuid[])`.as<'wanted'>(sql`wanted (contact_id)`))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('agent_actions')
          .select(['type', 'status', 'created_at', 'executed_at'])
          .select(sql<string | null>`agent_actions.params ->> 'subject'`.as('subject'))
          .whereRef('agent_actions.contact_id', '=', 'wanted.contact_id')
          .orderBy('agent_actions.created_at', 'desc')
          .orderBy('agent_actions.action_index')
          .limit(ACTIONS)
          .as('recent'),
      (join) => join.onTrue(),
    )
    .select(['wanted.contact_id', 'recent.type', 'recent.status', 'recent.created_at', 'recent.executed_at'])
    .select('recent.subject')
    .execute()
  const byContact = Map.groupBy(rows, ({ contact_id }) => contact_id)
  return new Map([...byContact].map(([contactId, actions]) => [contactId, actions.map(toRecentAction)]))
}

function toRecentAction(row: {
  type: string
  status: string
  created_at: Date
  executed_at: Date | null
  subject: string | null
}): RecentAction {
  return {
    type: row.type,
    status: row.status,
    at: row.created_at.toISOString(),
    executed_at: row.executed_at?.toISOString() ?? null,
    subject: row.subject,
  }
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
