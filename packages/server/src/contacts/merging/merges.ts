import { sql } from 'kysely'
import Type from 'typebox'
import { type Actor, NamedActor } from '../../operations/audit.ts'
import { offsetOf, type Page } from '../../platform/http/pagination.ts'
import { ContactId, Nullable, Timestamp } from '../../platform/http/responses.ts'
import { personal } from '../../platform/personal.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { missingContact } from '../aliases.ts'
import { knownContacts } from '../read.ts'

/** A contact that was merged into another one. */
export const Merge = Type.Object(
  {
    contact_id: ContactId,
    email: Nullable(Type.String(personal('email'))),
    firstname: Nullable(Type.String(personal('firstname'))),
    lastname: Nullable(Type.String(personal('lastname'))),
    merged_at: Timestamp,
    merged_by: Nullable(NamedActor, 'null for the command line and the service itself.'),
    can_unmerge: Type.Boolean({
      description: 'Whether it is the latest merge: merges into one contact are undone in reverse order.',
    }),
  },
  { title: 'Merge' },
)

/** The contacts that were merged into one, the latest first. @throws ServiceError 404 for an unknown contact. */
export async function mergesInto(
  tenant: Tenant,
  contactId: string,
  page: Page,
): Promise<{ merges: Type.Static<typeof Merge>[]; total: number }> {
  if (!(await knownContacts(tenant, [contactId])).has(contactId)) throw await missingContact(tenant, contactId)
  const ofContact = tenant.db.selectFrom('contact_merges').where('survivor_id', '=', contactId)
  const property = (name: string) =>
    sql<string | null>`coalesce(merged -> 'row' -> 'properties' ->> ${name}, merged -> 'row' ->> ${name})`
  const rows = await ofContact
    .select(['contact_id', 'merged_at', 'merged_by'])
    .select([property('email').as('email'), property('firstname').as('firstname'), property('lastname').as('lastname')])
    .orderBy('position', 'desc')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  const { total } = await ofContact.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const merges = rows.map(({ merged_at: at, merged_by: by, ...row }, index) => ({
    ...row,
    merged_at: at.toISOString(),
    merged_by: namedActorOf(by as Actor),
    can_unmerge: page.page === 1 && index === 0,
  }))
  return { merges, total: Number(total) }
}

function namedActorOf(actor: Actor): Type.Static<typeof NamedActor> | null {
  return 'id' in actor ? { id: actor.id, name: actor.name } : null
}
