import { timingSafeEqual } from 'node:crypto'
import type { SealedColumn } from '../platform/crypto/reseal.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { secretKeyMissing } from '../platform/crypto/secret-key.ts'
import { conflict, ServiceError, validationError } from '../platform/errors.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import type { Actor } from './audit.ts'
import type { Context, Values } from './declare.ts'
import type { Finish } from './perform.ts'

const KEPT_MS = DAY_MS
/** After this time without an answer, the request's process has died, and another request can claim the key. */
const UNANSWERED_MS = 2 * 60 * 1000
const KEY = /^[\x21-\x7e]{1,255}$/

/** The Idempotency-Key of a request. @throws ServiceError 400 */
export function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined || (typeof header === 'string' && KEY.test(header))) return header
  throw validationError([{ path: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }])
}

interface Request {
  key: string
  /** Method, path and body, which must be the same when the key is used again. */
  sent: string
}

type Caller = Pick<Context, 'tenant' | 'actor' | 'now'> & { secrets: SecretBox }

/**
 * Performs a request once: a repetition within 24 hours gets the answer of the first. The answer is stored with the
 * change in one transaction if the operation is audited; any other stores it right after its own transaction.
 * @throws ServiceError 409 `idempotency_key_reused` for another request, 409 `idempotency_key_in_use` while the first
 * has no answer.
 */
export async function performOnce(
  caller: Caller,
  { key, sent }: Request,
  work: (finish: Finish) => Promise<Values>,
): Promise<{ answer: Values; isRepeated: boolean }> {
  const { tenant, now } = caller
  const row = { caller: callerOf(caller.actor), key }
  const place = answerPlace(tenant.id, row.caller, key)
  // Keyed, because a request may contain a password or a code that could be guessed from a plain hash.
  const answer = await claim(tenant, row, caller.secrets.digests(sent, place), now)
  if (answer !== null) {
    const opened = caller.secrets.open(answer, place)
    return { answer: JSON.parse(opened) as Values, isRepeated: true }
  }
  const finish: Finish = async (tx, output) => {
    const sealed = caller.secrets.seal(JSON.stringify(output), place)
    const { numUpdatedRows } = await whereClaimed(tx, row, now).set({ answer_sealed: sealed }).executeTakeFirst()
    if (numUpdatedRows === 0n) throw inUse()
  }
  try {
    return { answer: await work(finish), isRepeated: false }
  } catch (error) {
    // Nothing was changed, or a transaction of unknown outcome has stored its answer and keeps the key.
    await tenant.db
      .deleteFrom('idempotency_keys')
      .where('caller', '=', row.caller)
      .where('key', '=', key)
      .where('claimed_at', '=', now)
      .where('answer_sealed', 'is', null)
      .execute()
    throw error
  }
}

/** Where an answer is stored, for the secret box: it may contain secrets that are shown once. */
function answerPlace(tenantId: string, caller: string, key: string): string {
  return `idempotency_keys/${tenantId}/${caller}/${key}`
}

/** Deletes the answers that are older than a day. */
export async function deleteOldIdempotencyKeys(database: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS)
  await database.deleteFrom('idempotency_keys').where('claimed_at', '<', before).execute()
}

/** Deletes a tenant's answers: being encrypted, they cannot be searched for the person who is erased. */
export async function eraseAnswers(tx: Tenant): Promise<Record<string, number>> {
  await tx.db.deleteFrom('idempotency_keys').where('answer_sealed', 'is not', null).execute()
  return {}
}

interface Row {
  caller: string
  key: string
}

/** Claims a key without an answer. @returns the answer of an earlier request, if any. @throws ServiceError 409 */
async function claim(tenant: Tenant, row: Row, requestHashes: Buffer[], now: Date): Promise<string | null> {
  const [requestHash] = requestHashes
  // Without a key, the answer could not be stored, so the request must fail before anything changes.
  if (!requestHash) throw secretKeyMissing()
  const since = (ms: number) => new Date(now.getTime() - ms)
  const claimed = await tenant.db
    .insertInto('idempotency_keys')
    .values({ ...row, request_hash: requestHash, claimed_at: now })
    .onConflict((on) =>
      on
        .columns(['caller', 'key'])
        .doUpdateSet({ request_hash: requestHash, claimed_at: now, answer_sealed: null })
        .where(({ eb, and, or }) =>
          or([
            eb('idempotency_keys.claimed_at', '<', since(KEPT_MS)),
            and([
              eb('idempotency_keys.answer_sealed', 'is', null),
              eb('idempotency_keys.claimed_at', '<', since(UNANSWERED_MS)),
            ]),
          ]),
        ),
    )
    .returning('key')
    .executeTakeFirst()
  if (claimed) return null
  const known = await tenant.db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'answer_sealed'])
    .where('caller', '=', row.caller)
    .where('key', '=', row.key)
    .executeTakeFirst()
  if (known && !requestHashes.some((hash) => timingSafeEqual(known.request_hash, hash))) {
    const message = 'This Idempotency-Key was used for another request. Use a new key for each request.'
    throw conflict('idempotency_key_reused', message)
  }
  // Without a row, the first request has just failed; the caller retries, as if it were still in progress.
  if (!known || known.answer_sealed === null) throw inUse()
  return known.answer_sealed
}

function whereClaimed(tenant: Tenant, { caller, key }: Row, now: Date) {
  return tenant.db
    .updateTable('idempotency_keys')
    .where('caller', '=', caller)
    .where('key', '=', key)
    .where('claimed_at', '=', now)
    .where('answer_sealed', 'is', null)
}

function inUse(): ServiceError {
  const message = 'The first request with this Idempotency-Key is still in progress. Try again shortly.'
  return new ServiceError(409, 'idempotency_key_in_use', message, { headers: { 'retry-after': '1' } })
}

/** Keys belong to their caller, so that nobody reads the answer to another caller's request. */
function callerOf(actor: Actor): string {
  return 'id' in actor ? `${actor.kind}:${actor.id}` : actor.kind
}

/** The columns with ciphertexts, for the rotation of keys. */
export const SEALED_ANSWER_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'idempotency_keys',
    key: ['tenant_id', 'caller', 'key'],
    column: 'answer_sealed',
    place: ({ tenant_id = '', caller = '', key = '' }) => answerPlace(tenant_id, caller, key),
  },
]
