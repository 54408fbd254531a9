import Type from 'typebox'
import { findCompanies } from '../companies/list.ts'
import { nextCompanyIds } from '../companies/pages.ts'
import { type CompanyFilter, companyFiltersOf, parseCompany } from '../companies/requests.ts'
import { deleteCompany, updateCompany } from '../companies/write.ts'
import { namesEvents } from '../conditions/language.ts'
import { SegmentFilterSchema } from '../conditions/schema.ts'
import { requireNotComputed } from '../contacts/computed-names.ts'
import { contactFiltersOf } from '../contacts/list-filters.ts'
import type { ContactServices } from '../contacts/operations.ts'
import { nextContactIds } from '../contacts/pages.ts'
import { PropertiesInput } from '../contacts/properties.ts'
import { CONTACT_FIELDS, parseUpdateContact } from '../contacts/requests.ts'
import { deleteContact, updateContact } from '../contacts/write.ts'
import { type FurtherScopes, operationsWith } from '../operations/declare.ts'
import { anyVersion } from '../operations/etag.ts'
import { fieldOf } from '../operations/further-scopes.ts'
import type { Scope } from '../operations/scopes.ts'
import { ServiceError, validationError } from '../platform/errors.ts'
import { idInput } from '../platform/http/inputs.ts'
import { ID_LENGTH_MAX } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import { BULK_FIELDS, BULK_OUTPUT, changeEach, RECORDS_MAX, requireOneChange } from './change-each.ts'

const bulkOperation = operationsWith<ContactServices & { companyFilter: CompanyFilter }>()

const Filter = Type.Optional(Type.Unsafe<unknown>({ 'x-record': SegmentFilterSchema }))
const Search = Type.Optional(Type.String({ maxLength: 1_000, description: 'Words, as in the list.' }))
/** An id that cannot exist, such as an empty one, is listed in `failed`. */
const Ids = Type.Optional(
  Type.Array(Type.String({ maxLength: ID_LENGTH_MAX, 'x-unstorable': 'replaced' }), {
    minItems: 1,
    maxItems: RECORDS_MAX,
  }),
)
const DESCRIPTION = `Every record is changed as by a request of its own: the same checks, events and webhooks. With \`matching\`, a call changes ${RECORDS_MAX} records at most, in the order of their ids; repeat it with \`after\` until \`next\` is null. A record that fails is listed in \`failed\`, and the others are changed. If a request with an Idempotency-Key is interrupted, a retry changes the same records again: values that others have written in between are replaced, and of the ids that you sent, those that the first request deleted are listed in \`failed\`.`

/** The response says how many records match, and which is the next. */
const ofMatching = (scope: Scope): FurtherScopes => ({
  scopes: [scope],
  when: 'with `matching`',
  ofSent: (sent) => (fieldOf(sent, 'matching') ?? null) !== null,
})

const ofEvents: FurtherScopes = {
  scopes: ['events:read'],
  when: 'with event conditions in the filter',
  ofSent: (sent) => namesEvents(fieldOf(fieldOf(sent, 'matching'), 'filter')),
}

/** Changes of many contacts or companies: by id, or all that match a filter. */
export const BULK_OPERATIONS = [
  bulkOperation({
    name: 'changeContacts',
    tag: 'Contacts',
    http: 'POST /v1/contacts/bulk',
    command: 'contact bulk',
    scope: 'contacts:write',
    also: [ofMatching('contacts:read'), ofEvents],
    summary: 'Change or delete many contacts',
    description: DESCRIPTION,
    input: {
      contact_ids: Ids,
      matching: Type.Optional(
        Type.Object(
          {
            search: Search,
            segment_id: Type.Optional(idInput()),
            import_id: Type.Optional(idInput()),
            company_id: Type.Optional(idInput()),
            filter: Filter,
          },
          { additionalProperties: false, description: 'The contacts, instead of `contact_ids`; `{}` means all.' },
        ),
      ),
      set: Type.Optional(
        Type.Object(
          { properties: Type.Optional(PropertiesInput), company_id: CONTACT_FIELDS.company_id },
          { additionalProperties: false, description: 'As the body of PUT /v1/contacts/:contact_id.' },
        ),
      ),
      ...BULK_FIELDS,
    },
    output: BULK_OUTPUT,
    needsBody: true,
    example: {
      contact_ids: ['019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071'],
      set: { properties: { lifecyclestage: 'customer' } },
    },
    errors: ['400 event_filter_too_broad', '400 unknown_company', '400 unknown_import', '400 unknown_segment'],
    unaudited: 'recorded as events',
    async run(context, { contact_ids: ids, matching, after, set, delete: isDeletion }) {
      const { tenant, now, config, listFilters, requireScope } = context
      requireOneChange({ matching, after, set, delete: isDeletion }, ids, 'contact_ids')
      const update = set && parseUpdateContact(set)
      if (update?.email !== undefined) {
        throw validationError([{ path: 'set.properties.email', message: 'cannot be the same for several contacts' }])
      }
      if (update?.companyId) await requireCompany(tenant, update.companyId)
      const contactsMax = config.eventFilterContactsMax
      const filters = await contactFiltersOf(tenant, matching ?? {}, { listFilters, now, contactsMax, requireScope })
      return changeEach({
        memory: context.memory,
        ids,
        isDeletion: isDeletion === true,
        next: async (limit) => (filters ? nextContactIds(tenant, filters, after, limit) : []),
        change: (id) =>
          update
            ? updateContact(tenant, context, id, update, anyVersion)
            : deleteContact(tenant, context, id, anyVersion),
      })
    },
  }),
  bulkOperation({
    name: 'changeCompanies',
    tag: 'Companies',
    http: 'POST /v1/companies/bulk',
    command: 'company bulk',
    scope: 'companies:write',
    also: [ofMatching('companies:read'), ofEvents],
    summary: 'Change or delete many companies',
    description: DESCRIPTION,
    input: {
      company_ids: Ids,
      matching: Type.Optional(
        Type.Object(
          { search: Search, segment_id: Type.Optional(idInput()), filter: Filter },
          { additionalProperties: false, description: 'The companies, instead of `company_ids`; `{}` means all.' },
        ),
      ),
      set: Type.Optional(
        Type.Object(
          { properties: PropertiesInput },
          { additionalProperties: false, description: 'Properties as in PUT /v1/companies/:company_id.' },
        ),
      ),
      ...BULK_FIELDS,
    },
    output: BULK_OUTPUT,
    needsBody: true,
    example: { company_ids: ['019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071'], set: { properties: { industry: 'Computing' } } },
    errors: ['400 event_filter_too_broad', '400 unknown_segment'],
    unaudited: 'data, not a setting of the tenant',
    async run(context, { company_ids: ids, matching, after, set, delete: isDeletion }) {
      const { tenant, now } = context
      requireOneChange({ matching, after, set, delete: isDeletion }, ids, 'company_ids')
      const changes = set && parseCompany(set, false)
      const { companyFilter, requireScope } = context
      const filters = await companyFiltersOf(tenant, matching ?? {}, { companyFilter, now, requireScope })
      return changeEach({
        memory: context.memory,
        ids,
        isDeletion: isDeletion === true,
        next: (limit) => nextCompanyIds(tenant, filters, after, limit),
        async change(id) {
          if (!changes) return deleteCompany(tenant, context, id, anyVersion)
          const { companies: computed } = await context.findComputedNames(tenant)
          requireNotComputed(changes.properties, computed)
          return updateCompany(tenant, id, changes, now, computed, anyVersion)
        },
      })
    },
  }),
]

/** Checked once: it would fail for every contact. @throws ServiceError 400 `unknown_company`. */
async function requireCompany(tenant: Tenant, companyId: string): Promise<void> {
  if ((await findCompanies(tenant, [companyId])).length > 0) return
  const details = [{ path: 'set.company_id', message: 'is not the id of one of your companies' }]
  throw new ServiceError(400, 'unknown_company', 'There is no company with this company_id.', { details })
}
