import { sql } from 'kysely'
import type { ErasureSubject } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'

/** The devices of a contact's visitors, and the networks they were seen from. */
export async function eraseDevices(tx: Tenant, { visitorIds }: ErasureSubject) {
  const fingerprints = await tx.db
    .deleteFrom('fingerprints')
    .where(sql<boolean>`fingerprints.visitor_id = ANY(${visitorIds}::text[])`)
    .executeTakeFirst()
  const networks = await tx.db
    .deleteFrom('visitor_networks')
    .where(sql<boolean>`visitor_networks.visitor_id = ANY(${visitorIds}::text[])`)
    .executeTakeFirst()
  return { fingerprints: Number(fingerprints.numDeletedRows), visitor_networks: Number(networks.numDeletedRows) }
}
