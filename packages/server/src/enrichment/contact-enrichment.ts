import Type from 'typebox'
import { missingContact } from '../contacts/aliases.ts'
import type { ContactRow } from '../contacts/contact-row.ts'
import type { Properties } from '../contacts/properties.ts'
import { findContact } from '../contacts/read.ts'
import { recordOf } from '../contacts/writing/contact-set.ts'
import { ENRICHMENT, readSourceRecords } from '../contacts/writing/source-records.ts'
import { ContactId, Id, Nullable, RecordError, Timestamp } from '../platform/http/responses.ts'
import { isObject } from '../platform/is-object.ts'
import { LABEL, WITHHELD, WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { ENRICHERS } from './all-enrichers.ts'
import { isEnriched } from './enricher.ts'
import { isQueued } from './providers/queue.ts'
import { readEnrichmentSettings } from './settings.ts'

const EnricherFindings = Type.Object(
  {
    enricher: Type.String({ description: '`company`, `place`, `phone` or `name`.', ...WORD }),
    enabled: Type.Boolean({ description: 'Whether it is switched on.' }),
    filled: Type.Array(Type.String(WORD), {
      description: 'What it filled and the contact still has: names of properties, or `company_id`.',
    }),
    found_at: Nullable(Timestamp, 'When it last found something new; null if it never did.'),
    found: Nullable(
      Type.Record(Type.String(), Type.Unknown(), WITHHELD),
      'What it found last and in what, such as the domain of the address.',
    ),
  },
  { title: 'EnricherFindings' },
)

const ProviderFindings = Type.Object(
  {
    provider_id: Id,
    provider: Type.String({ description: 'Its name.', ...LABEL }),
    source: Type.String({ description: 'The source that it fills contacts as.', ...WORD }),
    enabled: Type.Boolean({ description: 'Whether it is switched on.' }),
    outcome: Nullable(
      Type.Enum(['filled', 'nothing', 'failed']),
      '`filled`: it filled something, now or earlier. `nothing`: it knew nothing new. `failed`: see `error`. null if it was not asked.',
    ),
    filled: Type.Array(Type.String(WORD), {
      description:
        'What it filled and the contact still has: names of properties, `company_id`, and `company.<property>` of the company.',
    }),
    at: Nullable(Timestamp, 'When it was last asked, or its earlier answer used.'),
    error: Nullable(RecordError),
  },
  { title: 'ProviderFindings' },
)

/** What enrichment knows of a contact. */
export const ContactEnrichment = Type.Object(
  {
    contact_id: ContactId,
    enriched_at: Nullable(Timestamp, 'When a source last enriched the contact; null if none did.'),
    results: Type.Array(EnricherFindings, { description: 'One for each built-in enricher.' }),
    providers: Type.Array(ProviderFindings, {
      description: 'One for each provider, in the order in which they are asked.',
    }),
    waiting: Type.Boolean({ description: 'Whether providers are still to be asked.' }),
  },
  { title: 'ContactEnrichment' },
)

/** @throws ServiceError 404 `not_found`, `contact_merged`. */
export async function readContactEnrichment(
  tenant: Tenant,
  contactId: string,
): Promise<Type.Static<typeof ContactEnrichment>> {
  const contact = await findContact(tenant, contactId)
  if (!contact) throw await missingContact(tenant, contactId)
  const records = (await readSourceRecords(tenant, [contactId], [ENRICHMENT])).get(contactId) ?? []
  const record = recordOf({ records }, ENRICHMENT)
  const raw = (isObject(record?.raw) ? record.raw : {}) as Record<string, Record<string, unknown>>
  const { off } = await readEnrichmentSettings(tenant)
  const known = { contact, facts: {} }
  const has = (key: string) =>
    key === 'company_id'
      ? contact.company_id !== null && contact.company_id === raw.company?.company_id
      : isEnriched(known, key) && Object.hasOwn(contact.properties as Properties, key)
  // In this order: when nothing waits any more, the results are there.
  const waiting = await isQueued(tenant, contactId)
  const providers = await findingsOfProviders(tenant, contact)
  return {
    contact_id: contactId,
    enriched_at: contact.enriched_at?.toISOString() ?? null,
    results: ENRICHERS.map(({ name, fills }) => {
      const { found_at = null, ...found } = raw[name] ?? {}
      return {
        enricher: name,
        enabled: !off.has(name),
        filled: fills.filter(has),
        found_at: found_at as string | null,
        found: raw[name] ? found : null,
      }
    }),
    providers,
    waiting,
  }
}

/** What became of asking each provider about a contact. */
async function findingsOfProviders(
  tenant: Tenant,
  contact: ContactRow,
): Promise<Type.Static<typeof ProviderFindings>[]> {
  const rows = await tenant.db
    .selectFrom('enrichment_providers')
    .leftJoin('enrichment_answers', (join) =>
      join
        .onRef('enrichment_answers.provider_id', '=', 'enrichment_providers.provider_id')
        .on('enrichment_answers.contact_id', '=', contact.contact_id),
    )
    .select(['enrichment_providers.provider_id', 'name', 'source', 'is_enabled', 'outcome', 'filled', 'at'])
    .select(['error_code', 'error_message'])
    .orderBy('position')
    .execute()
  const provenance = contact.properties_provenance as Record<string, { source: string }>
  return rows.map(({ provider_id, name, source, is_enabled, outcome, filled, at, error_code, error_message }) => ({
    provider_id,
    provider: name,
    source,
    enabled: is_enabled,
    outcome: outcome as 'filled' | 'nothing' | 'failed' | null,
    filled: (filled ?? []).filter((key) => {
      if (key === 'company_id' || key.startsWith('company.')) return contact.company_id !== null
      return Object.hasOwn(provenance, key) && provenance[key]?.source === source
    }),
    at: at?.toISOString() ?? null,
    error: error_code === null ? null : { code: error_code, message: error_message ?? '' },
  }))
}
