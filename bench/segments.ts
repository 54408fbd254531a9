import { openSession } from '../packages/server/src/cli/session.ts'
import { readConfig } from '../packages/server/src/config.ts'
import { createSegment } from '../packages/server/src/segments/segments.ts'

export const SEGMENTS = 50

/**
 * Half of them filter by properties, a quarter by events, a quarter are nested. Each uses a property that the measured
 * writes change, so each write evaluates each segment. No contact enters one, so that only the evaluation is measured.
 */
function filterOf(index: number): unknown {
  const never = { property: 'score', operator: 'gte', value: 1_000_000_000 + index }
  const rare = { property: 'lead_status', operator: 'in', value: [`lost ${index}`, `won ${index}`] }
  const often = { property: 'lead_status', operator: 'equals', value: 'open' }
  const event = { event: { type: 'form_submit', url_contains: `page-${index}`, min_count: 1_000 }, operator: 'did' }
  const recent = { event: { type: 'page_view', text_contains: `text ${index}`, within_days: 30 }, operator: 'did' }
  if (index % 4 === 0) return { match: 'all', conditions: [never, { property: 'country', operator: 'in', value: ['France', 'Japan'] }] } // biome-ignore format: a list
  if (index % 4 === 1) return { match: 'all', conditions: [rare, never] }
  if (index % 4 === 2) return { match: 'all', conditions: [often, event, recent] }
  const nested = { match: 'any', conditions: [often, event] }
  return { match: 'any', conditions: [rare, { match: 'all', conditions: [never, nested] }] }
}

/** Defines segments beside the running service, as if their members had been found. */
export async function defineSegments(environment: Record<string, string>, tenantId: string): Promise<void> {
  const session = await openSession(readConfig({ ...process.env, ...environment }), { mayCreate: true })
  try {
    await session.tenant(tenantId).transaction(async (tx) => {
      for (let index = 0; index < SEGMENTS; index++) {
        const segment = { name: `Segment ${index}`, description: null, filter: filterOf(index) }
        await createSegment(tx, segment, new Date())
      }
      await tx.db.updateTable('segments').set({ evaluated_at: new Date() }).execute()
    })
  } finally {
    await session.close()
  }
}
