import Type from 'typebox'
import { missingContact } from '../contacts/aliases.ts'
import type { Properties } from '../contacts/properties.ts'
import { findContact } from '../contacts/read.ts'
import { recordOf } from '../contacts/writing/contact-set.ts'
import { ENRICHMENT, readSourceRecords } from '../contacts/writing/source-records.ts'
import { ContactId, Nullable, Timestamp } from '../platform/http/responses.ts'
import { isObject } from '../platform/is-object.ts'
import { WITHHELD, WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { ENRICHERS } from './all-enrichers.ts'
import { isEnriched } from './enricher.ts'
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

/** What enrichment knows of a contact. */
export const ContactEnrichment = Type.Object(
  {
    contact_id: ContactId,
    enriched_at: Nullable(Timestamp, 'When a source last enriched the contact; null if none did.'),
    results: Type.Array(EnricherFindings, { description: 'One for each built-in enricher.' }),
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
  }
}
