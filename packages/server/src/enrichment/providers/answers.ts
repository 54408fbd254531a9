import type { Tenant } from '../../platform/tenant.ts'
import { DAY_MS } from '../../platform/time.ts'
import type { Failure } from './ask.ts'
import type { Provider } from './providers.ts'
import type { Question } from './question.ts'

/** An answer that a provider gave before; `answer` is null if it knew nothing. */
export interface KeptAnswer {
  answer: unknown
  answeredAt: Date
  cachedUntil: Date
}

/** The latest answer to the same question, about whomever it was. */
export async function keptAnswer(
  tenant: Tenant,
  { providerId }: Provider,
  { hash }: Question,
  now: Date,
): Promise<KeptAnswer | null> {
  const row = await tenant.db
    .selectFrom('enrichment_answers')
    .select(['answer', 'answered_at', 'cached_until'])
    .where('provider_id', '=', providerId)
    .where('question', '=', hash)
    .where('answer', 'is not', null)
    .where('cached_until', '>', now)
    .orderBy('answered_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!row || row.answer === null || row.answered_at === null || row.cached_until === null) return null
  return { answer: JSON.parse(row.answer), answeredAt: row.answered_at, cachedUntil: row.cached_until }
}

/** A new answer, with the time for which it serves. */
export function newAnswer({ cacheDays }: Provider, answer: unknown, now: Date): KeptAnswer {
  return { answer, answeredAt: now, cachedUntil: new Date(now.getTime() + cacheDays * DAY_MS) }
}

/** Stores an answer before it is used: whatever happens next, the same is not asked again. */
export async function keepAnswer(
  tenant: Tenant,
  { providerId }: Provider,
  contactId: string,
  { hash }: Question,
  { answer, answeredAt, cachedUntil }: KeptAnswer,
): Promise<void> {
  const kept = { question: hash, answer: JSON.stringify(answer), answered_at: answeredAt, cached_until: cachedUntil }
  const outcome = { at: answeredAt, outcome: 'nothing', error_code: null, error_message: null }
  await tenant.db
    .insertInto('enrichment_answers')
    .values({ contact_id: contactId, provider_id: providerId, filled: [], ...outcome, ...kept })
    .onConflict((row) => row.columns(['contact_id', 'provider_id']).doUpdateSet(kept))
    .execute()
}

/** Notes what an answer filled. What it filled before stays in the list. Only who has claimed the contact calls it. */
export async function noteFilled(
  tenant: Tenant,
  { providerId }: Provider,
  contactId: string,
  filled: readonly string[],
  at: Date,
): Promise<void> {
  const before = await tenant.db
    .selectFrom('enrichment_answers')
    .select('filled')
    .where('contact_id', '=', contactId)
    .where('provider_id', '=', providerId)
    .executeTakeFirst()
  const all = [...new Set([...(before?.filled ?? []), ...filled])].sort()
  await tenant.db
    .updateTable('enrichment_answers')
    .set({ at, outcome: all.length > 0 ? 'filled' : 'nothing', filled: all, error_code: null, error_message: null })
    .where('contact_id', '=', contactId)
    .where('provider_id', '=', providerId)
    .execute()
}

/** Notes that a provider could not be asked about a contact, or that its answer could not be used. */
export async function noteFailed(
  tenant: Tenant,
  { providerId }: Provider,
  contactId: string,
  { code, message }: Pick<Failure, 'code' | 'message'>,
  at: Date,
): Promise<void> {
  const failed = { at, outcome: 'failed', error_code: code, error_message: message }
  await tenant.db
    .insertInto('enrichment_answers')
    .values({ contact_id: contactId, provider_id: providerId, filled: [], ...failed })
    .onConflict((row) => row.columns(['contact_id', 'provider_id']).doUpdateSet(failed))
    .execute()
}
