import { sql } from 'kysely'
import type { Database } from '../postgres/database.ts'

/**
 * Deletes a tenant's waiting and finished jobs whose data or result contains one of some texts. A running job stays:
 * its worker finds its data gone, and the next call deletes it.
 * @returns how many.
 */
export async function forgetJobs(database: Database, tenantId: string, texts: readonly string[]): Promise<number> {
  const { numAffectedRows } = await sql`DELETE FROM pgboss.job
    WHERE data ->> 'tenantId' = ${tenantId} AND state <> 'active' AND EXISTS (
      SELECT FROM unnest(${texts}::text[]) AS text
      WHERE strpos(lower(coalesce(data::text, '') || coalesce(output::text, '')), lower(text)) > 0)`.execute(database)
  return Number(numAffectedRows ?? 0)
}
