import { type AliasedExpression, type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { membersOf } from '../memberships/memberships.ts'
import type { Tenant } from '../platform/tenant.ts'
import { isOneOf, SEGMENT_IDS } from './columns.ts'
import { type SegmentMember, toSegmentMember } from './contact-object.ts'
import { CONTACT_COLUMNS } from './contact-row.ts'
import type { ContactRange, ContactSet } from './ranges.ts'

/*
 * Contacts that match a condition compiled by another feature, such as a segment's filter.
 */

/** A query of some contacts. */
export function contactsAmong(tenant: Tenant, contactSet: ContactSet) {
  return tenant.db.selectFrom('contacts').where(isOneOf(contactSet))
}

/** The ids of the contacts in a set that match a condition, newest first. */
export async function idsMatching(
  tenant: Tenant,
  contactSet: ContactSet,
  condition: RawBuilder<SqlBool>,
): Promise<string[]> {
  const rows = await contactsAmong(tenant, contactSet)
    .select('contacts.contact_id')
    .where(condition)
    .orderBy('contacts.contact_id', 'desc')
    .execute()
  return rows.map(({ contact_id }) => contact_id)
}

/** The ids of the contacts in a range that match a condition, each as a line. */
export async function idLines(tenant: Tenant, range: ContactRange, condition: RawBuilder<SqlBool>): Promise<string> {
  // One text for all of them: reading a row for each would take longer than finding them.
  const lines = sql<string>`coalesce(string_agg(contacts.contact_id || E'\\n', ''), '')`
  const query = contactsAmong(tenant, range).select(lines.as('lines')).where(condition)
  const found = await tenant.heavyRead(() => query.executeTakeFirst())
  return found?.lines ?? ''
}

/** The ids of some contacts that match a condition. */
export async function someMatching(tenant: Tenant, condition: RawBuilder<SqlBool>, limit: number): Promise<string[]> {
  const query = tenant.db.selectFrom('contacts').select('contact_id').where(condition).limit(limit)
  const rows = await tenant.heavyRead(() => query.execute())
  return rows.map(({ contact_id }) => contact_id)
}

/** A subquery per contact, for conditions to read. */
export type PerContact = AliasedExpression<object, 'per_contact'>

/** The same, unordered, for a condition that also reads `per_contact`. */
export async function idsMatchingWith(
  tenant: Tenant,
  contactSet: ContactSet,
  perContact: PerContact,
  condition: Expression<SqlBool>,
): Promise<string[]> {
  const rows = await withEach(tenant, contactSet, perContact).select('contact_id').where(condition).execute()
  return rows.map(({ contact_id }) => contact_id)
}

/** Some contacts with their segments and the value of an expression, which reads `per_contact` too. */
export function findValuesWith<Value>(
  tenant: Tenant,
  contactSet: ContactSet,
  perContact: PerContact,
  value: Expression<Value>,
) {
  const valued = sql<Value>`${value}`.as('value')
  return withEach(tenant, contactSet, perContact).select(['contact_id', SEGMENT_IDS, valued]).execute()
}

/** Which of several conditions each of some contacts meets. */
export async function conditionsMetBy(
  tenant: Tenant,
  contactIds: readonly string[],
  conditions: Expression<boolean[]>,
) {
  const met = sql<boolean[]>`${conditions}`.as('met')
  return contactsAmong(tenant, { contactIds }).select(['contact_id as id', met]).execute()
}

function withEach(tenant: Tenant, contactSet: ContactSet, perContact: PerContact) {
  return contactsAmong(tenant, contactSet).leftJoinLateral(perContact, (join) => join.onTrue())
}

/** How many contacts match a condition, and the newest of them. */
export async function countWithSample(
  tenant: Tenant,
  condition: RawBuilder<SqlBool>,
  sampleSize: number,
): Promise<{ count: number; sample: SegmentMember[] }> {
  const matching = tenant.db.selectFrom('contacts').where(condition)
  const { count } = await matching.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const rows = await matching
    .select(CONTACT_COLUMNS)
    .select(SEGMENT_IDS)
    .orderBy('created_at', 'desc')
    .limit(sampleSize)
    .execute()
  return { count, sample: rows.map(toSegmentMember) }
}

/** Contacts by id as the list of a segment's members shows them, newest first. */
export async function findSegmentMembers(tenant: Tenant, contactIds: readonly string[]): Promise<SegmentMember[]> {
  if (contactIds.length === 0) return []
  const rows = await contactsAmong(tenant, { contactIds })
    .select(CONTACT_COLUMNS)
    .select(SEGMENT_IDS)
    .orderBy('contact_id', 'desc')
    .execute()
  return rows.map(toSegmentMember)
}

/** How many members of a segment were created on each day (UTC) before another one; days without any are left out. */
export async function membersByCreation(
  tenant: Tenant,
  segmentId: string,
  before: string,
): Promise<{ day: string; count: number }[]> {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select(({ fn }) => [
      sql<string>`to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`.as('day'),
      fn.countAll<number>().as('count'),
    ])
    .where('contact_id', 'in', membersOf(tenant, segmentId))
    .where('created_at', '<', new Date(before))
    .groupBy('day')
    .execute()
  return rows.map(({ day, count }) => ({ day, count: Number(count) }))
}

/** A condition for another query: the contact with this column's id exists. */
export function contactExists(tenant: Tenant, column: RawBuilder<string>): RawBuilder<SqlBool> {
  return sql`EXISTS ${tenant.db.selectFrom('contacts').select('contact_id').where('contact_id', '=', column)}`
}
