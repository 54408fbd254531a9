import { type FlushVisitor, visitorKey } from './flush-queries.ts'

const REMEMBERED = 100_000

/** A cache of visitors that are, or once were, identified. It may be stale: every flush has PostgreSQL check it. */
export interface KnownVisitors {
  guess(visitors: FlushVisitor[]): FlushVisitor[]
  learn(visitors: readonly FlushVisitor[]): void
}

export function createKnownVisitors(): KnownVisitors {
  const known = new Map<string, Pick<FlushVisitor, 'contactId' | 'episode'>>()
  return {
    guess: (visitors) =>
      visitors.map((visitor) => ({
        ...visitor,
        ...known.get(visitorKey(visitor.tenantId, visitor.visitorId)),
      })),
    learn: (visitors) => {
      if (known.size + visitors.length > REMEMBERED) known.clear()
      for (const { tenantId, visitorId, contactId, episode } of visitors) {
        const key = visitorKey(tenantId, visitorId)
        if (contactId === null && episode === 0) known.delete(key)
        else known.set(key, { contactId, episode })
      }
    },
  }
}
