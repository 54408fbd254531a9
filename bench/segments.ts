import { openSession } from '../packages/server/src/cli/session.ts'
import { readConfig } from '../packages/server/src/config.ts'
import { createSegment } from '../packages/server/src/segments/segments.ts'

export const SEGMENTS = 50

/** Ten with events and properties, the others with properties alone; nobody enters, so that following is measured. */
function filterOf(index: number): unknown {
  const rare = { property: 'city', operator: 'equals', value: `Nowhere ${index}` }
  const often = { property: 'country', operator: 'in', value: ['France', 'Japan'] }
  const event = { event: { type: 'form_submit', url_contains: `page-${index}`, min_count: 1_000 }, operator: 'did' }
  return { match: 'all', conditions: index % 5 === 0 ? [often, event] : [rare, often] }
}

/** Defines segments beside the running service, as if their members had been found. */
export async function defineSegments(environment: Record<string, string>, tenantId: string): Promise<void> {
  const session = await openSession(readConfig({ ...process.env, ...environment }))
  try {
    const tenant = session.tenant(tenantId)
    for (let index = 0; index < SEGMENTS; index++) {
      const segment = { name: `Segment ${index}`, description: null, filter: filterOf(index) }
      await createSegment(tenant, segment, new Date(), true)
    }
    await tenant.db.updateTable('segments').set({ evaluated_at: new Date(), claimed_until: null }).execute()
  } finally {
    await session.close()
  }
}
