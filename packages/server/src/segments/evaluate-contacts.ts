import { sql } from 'kysely'
import { compileFilter } from '../conditions/to-postgres.ts'
import { findValuesWith } from '../contacts/matching.ts'
import type { Tenant } from '../platform/tenant.ts'
import { contextOf } from './contact-filters.ts'
import type { Definition } from './definitions.ts'
import { isMet, MET_CONDITIONS } from './met-conditions.ts'

/** Segments per statement, because the number of parameters is limited. */
const SEGMENTS_PER_QUERY = 50

/** The segments that a contact is in, and those that it should be in. */
export interface ContactEvaluation {
  contactId: string
  memberOf: ReadonlySet<string>
  /** By segment id; null if events must be queried first. */
  belongs: Map<string, boolean | null>
}

/**
 * Evaluates filters for contacts in PostgreSQL, using the stored results of event conditions.
 * @param isKnown whether all of a definition's event conditions have results. If not, its result is null, unless its
 * other conditions decide.
 */
export async function evaluateContacts(
  tx: Tenant,
  definitions: readonly Definition[],
  contactIds: readonly string[],
  now: Date,
  isKnown: (definition: Definition) => boolean = () => true,
): Promise<ContactEvaluation[]> {
  const evaluations = new Map<string, ContactEvaluation>()
  for (let from = 0; from < definitions.length; from += SEGMENTS_PER_QUERY) {
    const group = definitions.slice(from, from + SEGMENTS_PER_QUERY)
    const conditions = group.map((definition) =>
      // Unknown: the other conditions may still decide, as in SQL's three-valued logic.
      compileFilter(definition.filter, {
        ...contextOf(now, definition.zone),
        hasEvents: isKnown(definition) ? isMet : () => sql`NULL::boolean`,
      }),
    )
    const belongs = sql<(boolean | null)[]>`ARRAY[${sql.join(conditions)}]`
    const rows = await findValuesWith(tx, { contactIds }, MET_CONDITIONS, belongs)
    for (const row of rows) {
      const evaluation = evaluations.get(row.contact_id) ?? {
        contactId: row.contact_id,
        memberOf: new Set(row.segment_ids),
        belongs: new Map<string, boolean | null>(),
      }
      for (const [index, { segmentId }] of group.entries()) {
        evaluation.belongs.set(segmentId, row.value[index] ?? null)
      }
      evaluations.set(row.contact_id, evaluation)
    }
  }
  return [...evaluations.values()]
}
