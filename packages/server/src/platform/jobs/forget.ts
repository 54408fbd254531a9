import { sql } from 'kysely'
import type { Database } from '../postgres/database.ts'

/**
 * Removes a tenant's jobs, waiting or done, whose data or result names one of some texts. One that is being worked on
 * stays: its worker finds what it needs gone, and the next call removes it.
 * @returns how many.
 */
export async function forgetJobs(database: Database, tenantId: string, texts: readonly string[]): Promise<number> {
  const { numAffectedRows } = await sql`DELETE FROM pgboss.job
    WHERE data ->> 'tenantId' = ${tenantId} AND state <> 'active' AND EXISTS (
      SELECT FROM unnest(${texts}::text[]) AS text
      WHERE strpos(lower(coalesce(data::text, '') || coalesce(output::text, '')), lower(text)) > 0)`.execute(database)
  return Number(numAffectedRows ?? 0)
}
