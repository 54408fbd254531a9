import { createHash } from 'node:crypto'
import { DAY_MS, MINUTE_MS } from '../platform/time.ts'
import type { Asked } from './question.ts'

const KEPT_MS = MINUTE_MS
const KEPT_MAX = 200
const CHARACTERS_MAX = 200_000

interface Kept {
  /** The events and links that it counts. */
  version: string
  until: number
  answer: unknown
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
  const { fromMs, untilMs } = range
  // A question may be long.
  const key = createHash('sha256')
    .update(JSON.stringify([tenant.id, zone, fromMs, untilMs, compared, sent, Math.floor(now.getTime() / DAY_MS)]))
    .digest('base64')
  const version = await tenant.events.version()
  const known = kept.get(key)
  if (known && known.version === version && known.until > now.getTime()) return known.answer as Answer
  // Not shared while it is computed: it ends if who asked for it leaves.
  const answer = await compute()
  kept.delete(key)
  if (JSON.stringify(answer).length > CHARACTERS_MAX) return answer
  // Callers can invent any number of questions, so the oldest is dropped.
  if (kept.size >= KEPT_MAX) for (const oldest of kept.keys().take(1)) kept.delete(oldest)
  kept.set(key, { version, until: now.getTime() + KEPT_MS, answer })
  return answer
}
