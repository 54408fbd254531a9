import { createTenant, listTenants } from '../access/tenants.ts'
import { audit } from '../operations/audit.ts'
import { paginationOf } from '../platform/http/pagination.ts'
import { openTenant } from '../platform/tenant.ts'
import { type CommandOnce, numberOf, optional, required } from './command.ts'

/** `cdsctl tenant …` */
export const TENANT_COMMANDS: Record<string, CommandOnce> = {
  'tenant list': {
    summary: 'List the tenants, oldest first',
    options: { page: optional('NUMBER'), limit: optional('NUMBER') },
    run: async ({ stores }, values) => {
      const page = { page: numberOf(values, 'page', 1), limit: numberOf(values, 'limit', 50) }
      const { tenants, total } = await listTenants(stores.database, page)
      return { tenants, pagination: paginationOf(page, total) }
    },
  },
  'tenant create': {
    summary: 'Create a tenant',
    options: { name: required('NAME') },
    run: async ({ stores }, { name }, now) => {
      const tenantId = await stores.database.transaction().execute(async (database) => {
        const id = await createTenant(database, String(name), now)
        const subject = { subjectKind: 'tenant', subjectId: id }
        const entry = { actor: { kind: 'command_line' }, action: 'tenant.created', ...subject } as const
        await audit(openTenant({ ...stores, database }, id), entry, now)
        return id
      })
      return { tenant_id: tenantId }
    },
  },
}
