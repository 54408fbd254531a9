import { timingSafeEqual } from 'node:crypto'
import type { ExpressionBuilder, Selectable } from 'kysely'
import type { SealedColumn } from '../platform/crypto/reseal.ts'
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
type Stored = ResponseContent & { isFinal: boolean }

/**
 * Performs a request once: a retry within 24 hours gets the response to the first. The response is stored in the
 * transaction of the change, if the operation is atomic; else after it, and the value from `remember` makes a retry
 * harmless.
 * @throws ServiceError 409 `idempotency_key_reused` for another request, 409 `idempotency_key_in_use` while the first
 * has no response.
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
    return { output: stored.output, warnings: stored.warnings, isRepeated: true }
  }
  let remembered: unknown = claimed.remembered
  const memory: Memory = {
    hasKey: true,
    async remember<T>(determine: () => Promise<T>) {
      if (remembered !== null) return remembered as T
      const value = await determine()
      await update(tenant, { remembered: JSON.stringify(value) })
      remembered = value
      return value
    },
    store: (tx, response, isFinal) => update(tx, { response_sealed: sealed({ ...response, isFinal }) }),
    async finish(response) {
      const response_sealed = sealed({ ...response, isFinal: true })
      // Inserted again if an erasure has deleted all responses meanwhile: this request may have ordered it.
      await tenant.db
        .insertInto('idempotency_keys')
        .values({ ...row, request_hash: claimed.request_hash, claimed_at: now, response_sealed })
        .onConflict((on) =>
          on.columns(['caller', 'key']).doUpdateSet({ response_sealed }).where('idempotency_keys.claimed_at', '=', now),
        )
        .execute()
    },
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
  async function update(tx: Tenant, values: { remembered: string } | { response_sealed: string }): Promise<void> {
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
      const ended = { claimed_at: new Date(now.getTime() - LEASE_MS - 1) }
      const row = tenant.db.updateTable('idempotency_keys').set(ended)
      await row.where(isOwn).where('response_sealed', 'is', null).execute()
    }
  }
}

/** Where a response is stored, for the secret box: it may contain secrets that are shown once. */
function responsePlace(tenantId: string, caller: string, key: string): string {
  return `idempotency_keys/${tenantId}/${caller}/${key}`
}

/** Deletes the responses that are older than a day. */
export async function deleteOldIdempotencyKeys(database: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS)
  await database.deleteFrom('idempotency_keys').where('claimed_at', '<', before).execute()
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
 * @throws ServiceError 409
 */
async function claim(tenant: Tenant, row: Row, requestHashes: Buffer[], now: Date): Promise<Claimed> {
  const [requestHash] = requestHashes
  // Without a key, the response could not be stored, so the request must fail before anything changes.
  if (!requestHash) throw secretKeyMissing()
  const since = (ms: number) => new Date(now.getTime() - ms)
  const claimed = await tenant.db
    .insertInto('idempotency_keys')
    .values({ ...row, request_hash: requestHash, claimed_at: now })
    .onConflict((on) =>
      on
        .columns(['caller', 'key'])
        .doUpdateSet(({ eb }) => ({
          request_hash: requestHash,
          claimed_at: now,
          response_sealed: null,
          remembered: eb
            .case()
            .when('idempotency_keys.claimed_at', '>=', since(KEPT_MS))
            .then(eb.ref('idempotency_keys.remembered'))
            .end(),
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

/** The encrypted columns, for `secret rotate`. */
export const SEALED_RESPONSE_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'idempotency_keys',
    key: ['tenant_id', 'caller', 'key'],
    column: 'response_sealed',
    place: ({ tenant_id = '', caller = '', key = '' }) => responsePlace(tenant_id, caller, key),
  },
]
