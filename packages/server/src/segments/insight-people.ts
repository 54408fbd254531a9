import { eventsOf, type InsightMatch, isInsight, type SegmentFilter } from '../conditions/language.ts'
import { type ContactRange, isLast } from '../contacts/ranges.ts'
import { selectPeople } from '../insights/people.ts'
import type { QuestionContext } from '../insights/question.ts'
import { NOBODY } from '../platform/clickhouse/owner-links.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'

/**
 * Checks what only asking shows, such as dates in the wrong order.
 * @throws ServiceError 400 naming every invalid field of a question.
 */
export async function requireAnswerable(context: QuestionContext, filter: SegmentFilter): Promise<void> {
  for (const match of eventsOf(filter).filter(isInsight)) await selectPeople(context, match)
}

/** A query of the contacts that a number counts, in a range of ids. */
export async function contactsBehind(
  context: QuestionContext,
  match: InsightMatch,
  range: ContactRange,
): Promise<EventSelect & Required<Pick<EventSelect, 'outer'>>> {
  const { isCounted, ...selection } = await selectPeople(context, match)
  const conditions = [`contact_id != ${NOBODY}`, ...(isCounted === undefined ? [] : [isCounted])]
  // As texts, because ClickHouse sorts UUIDs by their second half first.
  conditions.push('toString(contact_id) > {contacts_after: String}')
  if (!isLast(range)) conditions.push('toString(contact_id) <= {contacts_up_to: String}')
  return {
    ...selection,
    name: 'segments.insight',
    lane: 'heavy',
    parameters: {
      ...selection.parameters,
      contacts_after: range.after,
      ...(isLast(range) ? {} : { contacts_up_to: range.upTo }),
    },
    outer: {
      columns: `contact_id, '1' AS hits`,
      where: conditions.map((condition) => `(${condition})`).join(' AND '),
      groupBy: 'contact_id',
    },
  }
}
