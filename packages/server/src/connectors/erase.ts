import { sql } from 'kysely'
import { mentionPattern } from '../contacts/erasure-subject.ts'
import { recordset } from '../platform/postgres/recordset.ts'
import type { ErasureSubject } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Replaces the erased reason. A refused object must keep an error, or the objects that need it would be read without it. */
const ERASED = 'It was not read. The reason named a person who was erased.'

/**
 * Erases a contact from the errors of connections: the errors of its records, which have our id or the system's, and
 * responses that mention its address. Its outbox entries are deleted with the contact's row.
 */
export async function eraseFromConnections(
  tx: Tenant,
  { contactId, email, visitorIds, keys, externalIds = [] }: ErasureSubject,
) {
  // The pattern for an unknown address matches nothing.
  const pattern = email === null ? '(?!)' : mentionPattern(email)
  const ofSources = keys.map(({ directory, key }) => ({ source: directory, id: key }))
  // The errors of analytics systems name people by their user ids and visitors.
  const ofAnySource = [contactId, ...externalIds, ...visitorIds].map((id) => ({ source: null, id }))
  const errors = await tx.db
    .deleteFrom('connection_errors')
    .where(({ or, exists, selectFrom }) =>
      or([
        sql<boolean>`message ~* ${pattern}`,
        sql<boolean>`external_id ~* ${pattern}`,
        exists(
          selectFrom('connections')
            .innerJoin(recordset([...ofSources, ...ofAnySource], 'known', { source: 'text', id: 'text' }), (join) =>
              join.on(sql<boolean>`known.source IS NULL OR known.source = connections.source`),
            )
            .select('connections.connection_id')
            .whereRef('connections.connection_id', '=', 'connection_errors.connection_id')
            // The id of an activity is followed by that of its contact.
            .where(sql<boolean>`known.id IN (external_id, substr(external_id, strpos(external_id, '/') + 1))`),
        ),
      ]),
    )
    .executeTakeFirst()
  const objects = tx.db.selectFrom(sql<object>`jsonb_each(position -> 'objects')`.as<'object'>('object'))
  const isNamed = sql<boolean>`object.value ->> 'error' ~* ${pattern}`
  const isInPosition = sql<boolean>`EXISTS (${objects.select(sql`1`.as('one')).where(isNamed)})`
  const cleaned = objects.select(
    sql`jsonb_object_agg(object.key, CASE WHEN ${isNamed}
      THEN object.value || jsonb_build_object('error', ${ERASED}::text) ELSE object.value END)`.as('objects'),
  )
  // What waits of other contacts may mention the address. Their notes and mails stay here.
  await tx.db
    .deleteFrom('connection_activities')
    .where('external_id', 'is', null)
    .where(sql<boolean>`concat(subject, ' ', content) ~* ${pattern}`)
    .execute()
  const shown = await tx.db
    .updateTable('connections')
    .set({
      error: sql<string | null>`CASE WHEN error ~* ${pattern} THEN NULL ELSE error END`,
      write_back_error: sql<
        string | null
      >`CASE WHEN write_back_error ~* ${pattern} THEN NULL ELSE write_back_error END`,
      position: sql<string>`CASE WHEN ${isInPosition} THEN jsonb_set(position, '{objects}', ${cleaned}) ELSE position END`,
      // A pull in progress would store the reason again. With a new revision, it stores nothing, and the next pull continues.
      revision: sql<number>`revision + CASE WHEN ${isInPosition} THEN 1 ELSE 0 END`,
    })
    .where(sql<boolean>`error ~* ${pattern} OR write_back_error ~* ${pattern} OR ${isInPosition}`)
    .executeTakeFirst()
  return { connection_errors: Number(errors.numDeletedRows) + Number(shown.numUpdatedRows) }
}
