import { type FlushVisitor, visitorKey } from './flush-queries.ts'

const REMEMBERED = 100_000

/** What this process last knew of identified visitors. A guess: every flush has PostgreSQL check it. */
export interface KnownVisitors {
  guess(visitors: FlushVisitor[]): FlushVisitor[]
  learn(visitors: readonly FlushVisitor[]): void
}

export function createKnownVisitors(): KnownVisitors {
  const contacts = new Map<string, string>()
  return {
    guess: (visitors) =>
      visitors.map((visitor) => ({
        ...visitor,
        contactId: contacts.get(visitorKey(visitor.tenantId, visitor.visitorId)) ?? null,
      })),
    learn: (visitors) => {
      if (contacts.size + visitors.length > REMEMBERED) contacts.clear()
      for (const { tenantId, visitorId, contactId } of visitors) {
        const key = visitorKey(tenantId, visitorId)
        if (contactId === null) contacts.delete(key)
        else contacts.set(key, contactId)
      }
    },
  }
}
