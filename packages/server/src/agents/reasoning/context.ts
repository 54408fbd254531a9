import type { CompanyRow } from '../../companies/company-object.ts'
import { findCompanies } from '../../companies/list.ts'
import { type Consent, consentOf } from '../../contacts/consent.ts'
import { propertiesOf } from '../../contacts/contact-row.ts'
import type { Properties } from '../../contacts/properties.ts'
import { findProfiles } from '../../contacts/read.ts'
import { summaryOf } from '../../contacts/summary.ts'
import { unifiedProfileOf } from '../../contacts/unified-profile.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type RecentAction, recentActions } from './decisions.ts'
import { type EventsSummary, NO_EVENTS, summarizeEvents } from './events-summary.ts'

const NOTES = 5
const NOTE_LENGTH_MAX = 1_000

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
  company: { company_id: string; name: string | null; domain: string | null; properties: Properties } | null
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

function toCompanyContext({ company_id, name, domain, properties }: CompanyRow): ContactContext['company'] {
  return { company_id, name, domain, properties: properties as Properties }
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
