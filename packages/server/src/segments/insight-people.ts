import { eventsOf, type InsightMatch, isInsight, type SegmentFilter } from '../conditions/language.ts'
import { type ContactRange, isLast } from '../contacts/ranges.ts'
import { peopleBehind } from '../insights/kinds.ts'
import { amongPeople, type QuestionContext } from '../insights/question.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'

/**
 * Checks what only asking shows, such as dates in the wrong order.
 * @throws ServiceError 400 naming every invalid field of a question.
 */
export async function requireAnswerable(context: QuestionContext, filter: SegmentFilter): Promise<void> {
  for (const match of eventsOf(filter).filter(isInsight)) await peopleBehind(context, match)
}

/** A query of the contacts that a number counts, in a range of ids: rows of `contact_id`, sorted by it. */
export async function contactsBehind(
  context: QuestionContext,
  match: InsightMatch,
  range: ContactRange,
  limit?: number,
): Promise<EventSelect> {
  const query = await peopleBehind(context, match)
  // As texts, because ClickHouse sorts UUIDs by their second half first.
  const conditions = ['is_contact', 'toString(person) > {contacts_after: String}']
  if (!isLast(range)) conditions.push('toString(person) <= {contacts_up_to: String}')
  const bounds = { contacts_after: range.after, ...(isLast(range) ? {} : { contacts_up_to: range.upTo }) }
  return amongPeople(
    { ...query, parameters: { ...query.parameters, ...bounds } },
    {
      columns: `toString(person) AS contact_id, '1' AS hits`,
      where: conditions.join(' AND '),
      groupBy: 'contact_id',
      orderBy: 'contact_id',
      ...(limit === undefined ? {} : { limit }),
    },
  )
}
