import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import { compileFilter } from './conditions.ts'
import type { Definition } from './definitions.ts'
import { contactsWithHeld, holds } from './holders.ts'
import { segmentIds } from './member-ids.ts'

/** Filters of so many segments go into one statement, which has a limit of parameters. */
const SEGMENTS_A_QUERY = 50

/** Which segments a contact is in, and which it should be in. */
export interface Judgement {
  contactId: string
  memberOf: ReadonlySet<string>
  /** By segment id; null when events must be asked first. */
  belongs: Map<string, boolean | null>
}

/**
 * Holds contacts against filters, in PostgreSQL, by what is known of the contacts' events.
 * @param isKnown whether that is so of everything that a definition asks. Otherwise its judgement is null, unless its
 * other conditions decide.
 */
export async function judge(
  tx: Tenant,
  definitions: readonly Definition[],
  contactIds: readonly string[],
  now: Date,
  isKnown: (definition: Definition) => boolean = () => true,
): Promise<Judgement[]> {
  const judgements = new Map<string, Judgement>()
  for (let from = 0; from < definitions.length; from += SEGMENTS_A_QUERY) {
    const group = definitions.slice(from, from + SEGMENTS_A_QUERY)
    const conditions = group.map((definition) =>
      // Unknown: true and false of the other conditions win over it, as they do in SQL.
      compileFilter(definition.filter, { now, hasEvents: isKnown(definition) ? holds : () => sql`NULL::boolean` }),
    )
    const rows = await contactsWithHeld(tx)
      .select(['contact_id', segmentIds, sql<(boolean | null)[]>`ARRAY[${sql.join(conditions)}]`.as('belongs')])
      .where('contact_id', 'in', contactIds)
      .execute()
    for (const row of rows) {
      const judgement = judgements.get(row.contact_id) ?? {
        contactId: row.contact_id,
        memberOf: new Set(row.segment_ids),
        belongs: new Map<string, boolean | null>(),
      }
      for (const [index, { segmentId }] of group.entries()) {
        judgement.belongs.set(segmentId, row.belongs[index] ?? null)
      }
      judgements.set(row.contact_id, judgement)
    }
  }
  return [...judgements.values()]
}
