import Type from 'typebox'
import { type ComparedContact, comparedContacts } from '../contacts/compared-values.ts'
import { propertiesOf } from '../contacts/contact-row.ts'
import { ContactProperties } from '../contacts/properties.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { ContactId, Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { REASONS, type Reason } from './compare.ts'

const DuplicateContact = Type.Object(
  {
    contact_id: ContactId,
    properties: ContactProperties,
    company_id: Nullable(Id),
    creation_source: Type.String({ examples: ['manual'], ...WORD }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  {
    title: 'DuplicateContact',
    description:
      'With the properties that tell whether it is the other person. Those of more than 500 bytes are left out.',
  },
)

/** Two contacts that are likely one person. */
export const Duplicate = Type.Object(
  {
    duplicate_id: Id,
    confidence: Type.Number({ examples: [0.95], description: 'From 0 to 1.' }),
    reasons: Type.Array(
      Type.Object(
        { code: Type.Enum(Object.keys(REASONS) as Reason[]), text: Type.String(WORD) },
        { title: 'DuplicateReason' },
      ),
    ),
    contacts: Type.Array(DuplicateContact, { description: 'The two, the older one first.' }),
    found_at: Timestamp,
  },
  { title: 'Duplicate' },
)

/** The pairs that are likely one person, the likeliest first. */
export async function listDuplicates(
  tenant: Tenant,
  minConfidence: number,
  page: Page,
): Promise<{ duplicates: Type.Static<typeof Duplicate>[]; total: number }> {
  const suggested = tenant.db.selectFrom('duplicates').where('confidence', '>=', minConfidence)
  const rows = await suggested
    .select(['duplicate_id', 'contact_id', 'other_contact_id', 'confidence', 'reasons', 'found_at'])
    .orderBy('confidence', 'desc')
    .orderBy('duplicate_id')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  const { total } = await suggested.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const contacts = await comparedContacts(
    tenant,
    rows.flatMap((row) => [row.contact_id, row.other_contact_id]),
  )
  const duplicates = rows.flatMap((row) => {
    const pair = [row.contact_id, row.other_contact_id].flatMap((id) => contacts.get(id) ?? [])
    // One may have been merged or deleted since the first query.
    if (pair.length < 2) return []
    return {
      duplicate_id: row.duplicate_id,
      confidence: row.confidence,
      reasons: (row.reasons as Reason[]).map((code) => ({ code, text: REASONS[code] })),
      contacts: pair.sort((a, b) => a.created_at.getTime() - b.created_at.getTime()).map(toObject),
      found_at: row.found_at.toISOString(),
    }
  })
  return { duplicates, total: Number(total) }
}

function toObject(contact: ComparedContact): Type.Static<typeof DuplicateContact> {
  const { contact_id, company_id, creation_source, created_at, updated_at } = contact
  return {
    contact_id,
    properties: propertiesOf(contact),
    company_id,
    creation_source,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
