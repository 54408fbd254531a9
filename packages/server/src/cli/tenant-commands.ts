import { createTenant, listTenants } from '../access/tenants.ts'
import { listDeletions } from '../closing/receipt.ts'
import { paginationOf } from '../platform/http/pagination.ts'
import { type CommandOnce, numberOf, optional, required } from './command.ts'

/** `cdsctl tenant …` */
export const TENANT_COMMANDS: Record<string, CommandOnce> = {
  'tenant list': {
    summary: 'List the tenants, oldest first',
    options: { page: optional('NUMBER'), limit: optional('NUMBER') },
    prints: ['tenants', 'pagination'],
    run: async ({ stores }, values) => {
      const page = { page: numberOf(values, 'page', 1), limit: numberOf(values, 'limit', 50) }
      const { tenants, total } = await listTenants(stores.database, page)
      return { tenants, pagination: paginationOf(page, total) }
    },
  },
  'tenant-deletion list': {
    summary: 'List the receipts of deleted tenants, newest first',
    options: { page: optional('NUMBER'), limit: optional('NUMBER') },
    prints: ['deletions', 'pagination'],
    run: async ({ stores }, values) => {
      const page = { page: numberOf(values, 'page', 1), limit: numberOf(values, 'limit', 50) }
      const { deletions, total } = await listDeletions(stores.database, page)
      return { deletions, pagination: paginationOf(page, total) }
    },
  },
  'tenant create': {
    summary: 'Create a tenant',
    options: { name: required('NAME'), 'time-zone': optional('ZONE') },
    prints: ['tenant_id'],
    run: async ({ stores }, { name, 'time-zone': zone }, now) => {
      const tenant = { name: String(name), timeZone: zone === undefined ? undefined : String(zone) }
      const tenantId = await createTenant(stores, tenant, { kind: 'command_line' }, now)
      return { tenant_id: tenantId }
    },
  },
}
