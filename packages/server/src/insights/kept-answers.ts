import { DAY_MS, MINUTE_MS } from '../platform/time.ts'
import type { Asked } from './question.ts'

const KEPT_MS = MINUTE_MS
const KEPT_MAX = 200
const CHARACTERS_MAX = 200_000

interface Kept {
  /** The events and links that it counts. */
  version: string
  until: number
  answer: Promise<unknown>
}

const kept = new Map<string, Kept>()

/**
 * The answer to a question, which is computed once a minute unless an event of the tenant or a link of a visitor is new. What
 * depends on the contacts' values is always computed.
 */
export async function keptAnswer<Answer>(
  { tenant, now, zone, range, compared, usesContacts, visibleOnly }: Asked,
  sent: object,
  compute: () => Promise<Answer>,
): Promise<Answer> {
  if (usesContacts || visibleOnly) return compute()
  const key = JSON.stringify([
    tenant.id,
    zone,
    range.fromMs,
    range.untilMs,
    compared,
    sent,
    Math.floor(now.getTime() / DAY_MS),
  ])
  const version = await tenant.events.version()
  const known = kept.get(key)
  if (known && known.version === version && known.until > now.getTime()) return known.answer as Promise<Answer>
  const answer = compute()
  const entry = { version, until: now.getTime() + KEPT_MS, answer }
  kept.delete(key)
  // Callers can invent any number of questions, so the oldest is dropped.
  if (kept.size >= KEPT_MAX) for (const oldest of kept.keys().take(1)) kept.delete(oldest)
  kept.set(key, entry)
  const drop = () => kept.get(key) === entry && kept.delete(key)
  answer.then((found) => JSON.stringify(found).length > CHARACTERS_MAX && drop(), drop)
  return answer
}
