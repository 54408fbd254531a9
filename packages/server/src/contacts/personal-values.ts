import { sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import type { Tenant } from '../platform/tenant.ts'

/** The personal values of a contact: its own, those that its sources sent, and those of contacts merged into it. */
export interface PersonalRecord {
  contactId: string
  /** Contacts merged into it. */
  mergedIds: string[]
  email: string | null
  /** Winning values, by property. */
  properties: Record<string, unknown>
  /** All other values, by property. */
  others: Record<string, unknown>[]
  /** Addresses of merged contacts, which lead to this one. */
  otherEmails: string[]
}

/** Of a contact with more merged contacts, these are read. */
const MERGED_MAX = 100

/**
 * The contacts with some ids or email addresses; a merged contact's lead to its survivor. One query.
 * @param names a regular expression for the properties to read, which `plainName` writes.
 * @param marked further names, also plain.
 */
export async function personalRecordsOf(
  tenant: Tenant,
  { ids, emails }: { ids: readonly string[]; emails: readonly string[] },
  { names, marked }: { names: string; marked: readonly string[] },
): Promise<PersonalRecord[]> {
  const anyOf = (values: readonly string[], type: 'uuid' | 'text') =>
    sql<string>`any(${[...values]}::${sql.raw(type)}[])`
  const personal = (column: string) =>
    sql<Record<string, unknown>>`personal_values(${sql.ref(column)}, ${names}, ${[...marked]}::text[])`
  const rows = await tenant.db
    .with('meant', (db) =>
      db
        .selectFrom('contacts')
        .select('contact_id')
        .where('contact_id', '=', anyOf(ids, 'uuid'))
        .union(db.selectFrom('contacts').select('contact_id').where('email', '=', anyOf(emails, 'text')))
        .union(
          db
            .selectFrom('contact_merges')
            .select('survivor_id as contact_id')
            .where('contact_id', '=', anyOf(ids, 'uuid')),
        )
        .union(
          db
            .selectFrom('contact_aliases')
            .innerJoin('contact_merges', 'contact_merges.contact_id', 'contact_aliases.contact_id')
            .select('contact_merges.survivor_id as contact_id')
            .where('contact_aliases.kind', '=', 'email')
            .where('contact_aliases.source', '=', '')
            .where('contact_aliases.key', '=', anyOf(emails, 'text')),
        ),
    )
    .selectFrom('contacts')
    .innerJoin('meant', 'meant.contact_id', 'contacts.contact_id')
    .select((from) => [
      'contacts.contact_id',
      'contacts.email',
      personal('contacts.properties').as('properties'),
      jsonArrayFrom(
        from
          .selectFrom('contact_sources')
          .select(personal('contact_sources.fields').as('fields'))
          .whereRef('contact_sources.contact_id', '=', 'contacts.contact_id'),
      ).as('records'),
      jsonArrayFrom(
        from
          .selectFrom('contact_merges')
          .select([
            'contact_merges.contact_id',
            sql<string | null>`contact_merges.merged #>> '{row,email}'`.as('email'),
            sql<Record<string, unknown>>`personal_values(contact_merges.merged #> '{row,properties}', ${names},
              ${[...marked]}::text[])`.as('properties'),
          ])
          .whereRef('contact_merges.survivor_id', '=', 'contacts.contact_id')
          .limit(MERGED_MAX),
      ).as('merged'),
    ])
    .execute()
  return rows.map((row) => ({
    contactId: row.contact_id,
    mergedIds: row.merged.map(({ contact_id }) => contact_id),
    email: row.email,
    properties: row.properties,
    others: [...row.records.map(({ fields }) => valuesOf(fields)), ...row.merged.map(({ properties }) => properties)],
    otherEmails: row.merged.flatMap(({ email }) => email ?? []),
  }))
}

/** The values of a source's record, which has a time beside each. */
function valuesOf(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [key, (field as { value?: unknown } | null)?.value]),
  )
}

/** A contact whose first and last name are among some words. */
export interface NamedContact {
  contactId: string
  firstname: string
  lastname: string
}

/** The limit: a text that matches more is not a list of people. */
const NAMED_MAX = 500

/** Contacts whose first and last names both occur among words in lower case: they may be mentioned in full. One query. */
export async function contactsNamedIn(tenant: Tenant, words: readonly string[]): Promise<NamedContact[]> {
  const amongWords = sql<string>`any(${[...words]}::text[])`
  const query = tenant.db
    .selectFrom('contacts')
    .select([
      'contact_id',
      sql<string>`properties ->> 'firstname'`.as('firstname'),
      sql<string>`properties ->> 'lastname'`.as('lastname'),
    ])
    .where('sort_lastname', '=', amongWords)
    .where('sort_firstname', '=', amongWords)
    .limit(NAMED_MAX)
  // All contacts may have one of the words as their last name.
  const rows = await tenant.heavyRead(() => query.execute())
  return rows.map(({ contact_id: contactId, firstname, lastname }) => ({ contactId, firstname, lastname }))
}
