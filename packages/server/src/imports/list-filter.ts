import { isContactIn } from '../contacts/columns.ts'
import type { ListFilter } from '../contacts/list-filters.ts'
import { ServiceError } from '../platform/errors.ts'
import { isUuid } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'

/** The `import_id` of lists of contacts. */
export const importFilter: ListFilter = async (tenant, { import_id: importId }) => {
  if (importId === undefined) return []
  await requireKnown(tenant, importId)
  const written = tenant.db.selectFrom('import_changes').select('contact_id').where('import_id', '=', importId)
  return [{ isMet: isContactIn(written), isHeavy: false }]
}

/** @throws ServiceError 400 `unknown_import`. */
async function requireKnown(tenant: Tenant, importId: string): Promise<void> {
  const found = isUuid(importId)
    ? await tenant.db.selectFrom('imports').select('import_id').where('import_id', '=', importId).executeTakeFirst()
    : undefined
  if (found) return
  const details = [{ path: 'import_id', message: 'is not the id of one of your imports' }]
  const message = 'There is no import with this import_id. GET /v1/imports lists yours.'
  throw new ServiceError(400, 'unknown_import', message, { details })
}
