import { timingSafeEqual } from 'node:crypto'
import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { secretKeyMissing } from '../platform/crypto/secret-key.ts'
import { conflict, ServiceError, validationError } from '../platform/errors.ts'
import type { Database, TenantTables } from '../platform/postgres/database.ts'
import { leaseMs } from '../platform/postgres/lease.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import type { Actor } from './audit.ts'
import type { Context, Values } from './declare.ts'
import type { Memory, ResponseContent } from './perform.ts'

/** How long a retry gets the response, as the API documents. */
const KEPT_MS = DAY_MS
/** The lease of a claim: after this time without a final response, the request's process has died. */
const LEASE_MS = leaseMs('idempotency_key')
const KEY = /^[\x21-\x7e]{1,255}$/

/** What is kept for all callers of a tenant, and for one; `idempotency_usage` has the same limits. */
const KEPT_MB_MAX = { tenant: 64, caller: 16 }
/** A longer response, encrypted, is not kept: a retry learns only that the request was performed. */
const RESPONSE_BYTES_MAX = 256 * 1024
/**
 * What a request reserves before its work, which must not end in a response that cannot be kept. Few are longer; those
 * are kept if there is room.
 */
const RESERVED_BYTES = 16 * 1024
/** A row and its index entries, without the key; the table has the same minimum. */
const ROW_BYTES = 256
/** When there may be room again: old rows are deleted every hour. */
const ROOM_AFTER_SECONDS = 3_600

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

/** What is stored. A response that is not final counts once the lease has ended. */
type Stored = (ResponseContent | { isTooLarge: true }) & { isFinal: boolean }

/**
 * Performs a request once: a retry within 24 hours gets the response to the first. The response is stored in the
 * transaction of the change, if the operation is atomic; else after it, and the value from `remember` makes a retry
 * harmless.
 * @throws ServiceError 409 `idempotency_key_reused` for another request, 409 `idempotency_key_in_use` while the first
 * has no response, 409 `idempotency_response_not_kept` if that was too large, 429 `idempotency_storage_full`, before
 * the work, if nothing more can be kept.
 */
export async function performOnce(
  caller: Caller,
  { key, sent }: Request,
  work: (memory: Memory) => Promise<Values>,
): Promise<ResponseContent & { isRepeated: boolean }> {
  const { tenant, now } = caller
  const row = { caller: callerOf(caller.actor), key }
  const place = responsePlace(tenant.id, row.caller, key)
  // Keyed, because a request may contain a password or a code that could be guessed from a plain hash.
  const claimed = await claim(tenant, row, caller.secrets.digests(sent, place), now)
  if (claimed.response_sealed !== null) {
    const stored = JSON.parse(caller.secrets.open(claimed.response_sealed, place)) as Stored
    if (!stored.isFinal && now.getTime() - claimed.claimed_at.getTime() <= LEASE_MS) throw inUse()
    if ('isTooLarge' in stored) throw notKept()
    return { output: stored.output, warnings: stored.warnings, isRepeated: true }
  }
  let remembered: unknown = claimed.remembered
  const memory: Memory = {
    hasKey: true,
    async remember<T>(determine: () => Promise<T>) {
      if (remembered !== null) return remembered as T
      const value = await determine()
      const text = JSON.stringify(value)
      const bytes = RESERVED_BYTES + Buffer.byteLength(text)
      await update(tenant, { remembered: text, bytes }).catch(refuseIfFull)
      remembered = value
      return value
    },
    store: (outer, response, isFinal) =>
      outer.transaction(async (tx) => update(tx, await fitting(tx, { ...response, isFinal }))),
    finish: (response) =>
      tenant.transaction(async (tx) => {
        const kept = await fitting(tx, { ...response, isFinal: true })
        // Inserted again if an erasure has deleted all responses meanwhile: this request may have ordered it.
        await tx.db
          .insertInto('idempotency_keys')
          .values({ ...row, request_hash: claimed.request_hash, claimed_at: now, ...kept })
          .onConflict((on) =>
            on.columns(['caller', 'key']).doUpdateSet(kept).where('idempotency_keys.claimed_at', '=', now),
          )
          .execute()
      }),
    async release() {
      await tenant.db.deleteFrom('idempotency_keys').where(isOwn).execute()
    },
  }
  function sealed(stored: Stored): string {
    return caller.secrets.seal(JSON.stringify(stored), place)
  }
  /** The time of the claim proves that this request still has the key. */
  const isOwn = ({ eb, and }: ExpressionBuilder<TenantTables, 'idempotency_keys'>) =>
    and([eb('caller', '=', row.caller), eb('key', '=', key), eb('claimed_at', '=', now)])
  /** What is kept of a response: all of it, or that it was too large. The transaction then has the room for it. */
  async function fitting(tx: Tenant, stored: Stored): Promise<Kept> {
    const response_sealed = sealed(stored)
    const bytes = bytesOfRow(key, response_sealed, remembered)
    const own = await tx.db.selectFrom('idempotency_keys').select('bytes').where(isOwn).forUpdate().executeTakeFirst()
    const more = bytes - (own?.bytes ?? 0)
    const isKept = response_sealed.length <= RESPONSE_BYTES_MAX && (more <= 0 || (await hasRoom(tx, row.caller, more)))
    if (isKept) return { response_sealed, bytes }
    // It takes less than was reserved. If an erasure has deleted the row and others have taken the room, it does not count:
    // there is one for each request that was under way, which had reserved far more.
    const marker = sealed({ isTooLarge: true, isFinal: stored.isFinal })
    const least = bytesOfRow(key, marker, remembered)
    if (own) return { response_sealed: marker, bytes: Math.min(own.bytes, least) }
    return { response_sealed: marker, bytes: (await hasRoom(tx, row.caller, least)) ? least : 0 }
  }
  async function update(tx: Tenant, values: Kept | { remembered: string; bytes: number }): Promise<void> {
    const { numUpdatedRows } = await tx.db.updateTable('idempotency_keys').set(values).where(isOwn).executeTakeFirst()
    if (numUpdatedRows === 0n) throw inUse()
  }
  try {
    return { output: await work(memory), warnings: [], isRepeated: false }
  } catch (error) {
    // If this fails too, the key is free when its lease ends.
    await releaseUnlessStored().catch(() => {})
    throw error
  }

  /** Frees the key, unless a response is stored: then the change was committed, or its commit may have succeeded. */
  async function releaseUnlessStored(): Promise<void> {
    if (remembered === null) {
      await tenant.db.deleteFrom('idempotency_keys').where(isOwn).where('response_sealed', 'is', null).execute()
    } else {
      // A retry needs what the request remembered, so the row stays, as if its lease had ended.
      const ended = { claimed_at: new Date(now.getTime() - LEASE_MS - 1), bytes: bytesOfRow(key, '', remembered) }
      const row = tenant.db.updateTable('idempotency_keys').set(ended)
      await row.where(isOwn).where('response_sealed', 'is', null).execute()
    }
  }
}

type Kept = { response_sealed: string; bytes: number }

/** What a row counts. */
function bytesOfRow(key: string, response: string, remembered: unknown): number {
  const ofMemory = remembered === null ? 0 : Buffer.byteLength(JSON.stringify(remembered))
  return ROW_BYTES + 2 * key.length + response.length + ofMemory
}

/** Whether a caller and its tenant may keep more bytes; no other transaction takes them before this one has ended. */
async function hasRoom(tx: Tenant, caller: string, more: number): Promise<boolean> {
  const usage = await tx.db
    .selectFrom('idempotency_usage')
    .select(['caller', 'bytes'])
    .where('caller', 'in', ['', caller])
    // In the order in which the trigger locks them.
    .orderBy('caller')
    .forUpdate()
    .execute()
  return usage.every((sum) => {
    const megabytes = sum.caller === '' ? KEPT_MB_MAX.tenant : KEPT_MB_MAX.caller
    return Number(sum.bytes) + more <= megabytes * 1024 * 1024
  })
}

/** @throws ServiceError 429 for the error of the limit, and any other error as it is. */
function refuseIfFull(error: unknown): never {
  if ((error as { constraint?: string }).constraint !== 'idempotency_usage_max') throw error
  const { caller, tenant } = KEPT_MB_MAX
  const message = `Nothing was changed, because the responses kept for retries have reached a limit: ${caller} MiB for this caller, or ${tenant} MiB for the workspace. Each is deleted after 24 hours. Try again later, or send the request without an Idempotency-Key.`
  throw new ServiceError(429, 'idempotency_storage_full', message, {
    cause: error,
    retryAfterSeconds: ROOM_AFTER_SECONDS,
  })
}

function notKept(): ServiceError {
  const message =
    'The first request with this Idempotency-Key was performed, but its response was too large to keep. Read what it changed. For another request, use a new key.'
  return conflict('idempotency_response_not_kept', message)
}

/** Where a response is stored, for the secret box: it may contain secrets that are shown once. */
export function responsePlace(tenantId: string, caller: string, key: string): string {
  return `idempotency_keys/${tenantId}/${caller}/${key}`
}

/** Deletes the responses that are older than a day. */
export async function deleteOldIdempotencyKeys(database: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS)
  await database.deleteFrom('idempotency_keys').where('claimed_at', '<', before).execute()
  // The sums of callers of whom nothing is kept any more.
  await database.deleteFrom('idempotency_usage').where(sql<boolean>`bytes = 0`).execute()
}

/** Deletes a tenant's responses: being encrypted, they cannot be searched for the person who is erased. */
export async function eraseResponses(tx: Tenant): Promise<Record<string, number>> {
  await tx.db.deleteFrom('idempotency_keys').where('response_sealed', 'is not', null).execute()
  return {}
}

interface Row {
  caller: string
  key: string
}

const CLAIM_COLUMNS = ['request_hash', 'response_sealed', 'remembered', 'claimed_at'] as const
type Claimed = Pick<Selectable<TenantTables['idempotency_keys']>, (typeof CLAIM_COLUMNS)[number]>

/**
 * Claims a key that has no response. @returns an earlier request's response or, without one, what it remembered.
 * @throws ServiceError 409, 429
 */
async function claim(tenant: Tenant, row: Row, requestHashes: Buffer[], now: Date): Promise<Claimed> {
  const [requestHash] = requestHashes
  // Without a key, the response could not be stored, so the request must fail before anything changes.
  if (!requestHash) throw secretKeyMissing()
  const since = (ms: number) => new Date(now.getTime() - ms)
  const isKept = sql<boolean>`idempotency_keys.claimed_at >= ${since(KEPT_MS)}`
  const claimed = await tenant.db
    .insertInto('idempotency_keys')
    .values({ ...row, request_hash: requestHash, claimed_at: now, bytes: RESERVED_BYTES })
    .onConflict((on) =>
      on
        .columns(['caller', 'key'])
        .doUpdateSet(({ eb }) => ({
          request_hash: requestHash,
          claimed_at: now,
          response_sealed: null,
          remembered: eb.case().when(isKept).then(eb.ref('idempotency_keys.remembered')).end(),
          bytes: sql`${RESERVED_BYTES}::integer + CASE WHEN ${isKept}
            THEN coalesce(octet_length(idempotency_keys.remembered::text), 0) ELSE 0 END`,
        }))
        .where(({ eb, and, or }) =>
          or([
            eb('idempotency_keys.claimed_at', '<', since(KEPT_MS)),
            and([
              // Any of the hashes: the secret key may have been rotated meanwhile.
              eb('idempotency_keys.request_hash', 'in', requestHashes),
              eb('idempotency_keys.response_sealed', 'is', null),
              eb('idempotency_keys.claimed_at', '<', since(LEASE_MS)),
            ]),
          ]),
        ),
    )
    .returning(CLAIM_COLUMNS)
    .executeTakeFirst()
    .catch(refuseIfFull)
  if (claimed) return claimed
  const known = await tenant.db
    .selectFrom('idempotency_keys')
    .select(CLAIM_COLUMNS)
    .where('caller', '=', row.caller)
    .where('key', '=', row.key)
    .executeTakeFirst()
  if (known && !requestHashes.some((hash) => timingSafeEqual(known.request_hash, hash))) {
    const message = 'This Idempotency-Key was used for another request. Use a new key for each request.'
    throw conflict('idempotency_key_reused', message)
  }
  // Without a row, the first request has just failed; the caller retries, as if it were still in progress.
  if (!known || known.response_sealed === null) throw inUse()
  return known
}

function inUse(): ServiceError {
  const message = 'The first request with this Idempotency-Key is still in progress. Try again shortly.'
  return new ServiceError(409, 'idempotency_key_in_use', message, { retryAfterSeconds: 1 })
}

/** Keys belong to their caller, so that nobody reads the response to another caller's request. */
export function callerOf(actor: Actor): string {
  return 'id' in actor ? `${actor.kind}:${actor.id}` : actor.kind
}
