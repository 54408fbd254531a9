import Type from 'typebox'
import { idInPath, operation } from '../../operations/declare.ts'
import { offsetOf, type Page, Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { Nullable, Timestamp } from '../../platform/http/responses.ts'
import { TEXT } from '../../platform/personal.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { missingContact } from '../aliases.ts'

const ContactVisitor = Type.Object(
  {
    visitor_id: Type.String(TEXT),
    first_seen_at: Nullable(Timestamp, 'The time of its first event before it was identified; null without one.'),
    first_url: Nullable(
      Type.String({ description: 'The first page that it viewed before it was identified.', ...TEXT }),
    ),
    first_referrer: Nullable(Type.String(TEXT)),
  },
  { title: 'ContactVisitor' },
)
type ContactVisitor = Type.Static<typeof ContactVisitor>

export const VISITOR_OPERATIONS = [
  operation({
    name: 'listContactVisitors',
    tag: 'Contacts',
    http: 'GET /v1/contacts/:contact_id/visitors',
    command: 'visitor list',
    scope: 'contacts:read',
    summary: 'List the visitors of a contact, newest first: its browsers and devices',
    description: '`GET /v1/visitors/{visitor_id}` summarizes the events of one.',
    input: { contact_id: idInPath('contact'), ...pageParameters(50, 100) },
    output: { visitors: Type.Array(ContactVisitor), pagination: Pagination },
    errors: ['404 contact_merged'],
    async run({ tenant }, { contact_id, page, limit }) {
      const { visitors, total } = await visitorsOfContact(tenant, contact_id, { page, limit })
      return { visitors, pagination: paginationOf({ page, limit }, total) }
    },
  }),
]

/** A contact has at most 1,000 visitors, so sorting them is cheap. @throws ServiceError 404 for an unknown contact. */
async function visitorsOfContact(
  tenant: Tenant,
  contactId: string,
  page: Page,
): Promise<{ visitors: ContactVisitor[]; total: number }> {
  const contact = tenant.db.selectFrom('contacts').select('contact_id').where('contact_id', '=', contactId)
  if (!(await contact.executeTakeFirst())) throw await missingContact(tenant, contactId)
  const ofContact = tenant.db.selectFrom('visitors').where('contact_id', '=', contactId)
  const rows = await ofContact
    .select(['visitor_id', 'first_seen_at', 'first_url', 'first_referrer'])
    .orderBy('created_at', 'desc')
    .orderBy('visitor_id')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  const { total } = await ofContact.select(({ fn }) => fn.countAll().as('total')).executeTakeFirstOrThrow()
  const visitors = rows.map((row) => ({ ...row, first_seen_at: row.first_seen_at?.toISOString() ?? null }))
  return { visitors, total: Number(total) }
}
