import { newId } from '../src/platform/ids.ts'
import { newClaim } from '../src/platform/postgres/lease.ts'
import type { Tenant } from '../src/platform/tenant.ts'
import { releaseSegment } from '../src/segments/claim.ts'
import { cacheDefinitions } from '../src/segments/definitions.ts'
import { evaluateSegment } from '../src/segments/evaluate.ts'
import { createSegment, type NewSegment } from '../src/segments/segments.ts'
import { appendRecords } from '../src/webhooks/append.ts'

/** Creates a segment that the running service does not evaluate, because the test has claimed it. */
export async function createClaimedSegment(tenant: Tenant, segment: NewSegment) {
  return tenant.transaction(async (tx) => {
    const created = await createSegment(tx, segment, new Date())
    await claimSegment(tx, created.segmentId)
    return created
  })
}

/** Claims a segment, so that the running service does not evaluate it. */
export async function claimSegment(tenant: Tenant, segmentId: string): Promise<string> {
  const claim = newId()
  await tenant.db.updateTable('segments').set(newClaim('segment', claim)).where('segment_id', '=', segmentId).execute()
  return claim
}

/** Evaluates a segment, even if another process has claimed it. */
export async function evaluateNow(
  tenant: Tenant,
  segmentId: string,
  dependencies = { definitions: cacheDefinitions(), clock: () => new Date() },
): Promise<void> {
  const claim = await claimSegment(tenant, segmentId)
  await evaluateSegment(tenant, { ...dependencies, append: appendRecords }, { segmentId, claim })
  await releaseSegment(tenant, { segmentId, claim })
}
