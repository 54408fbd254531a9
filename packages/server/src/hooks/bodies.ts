import { sql } from 'kysely'
import Type from 'typebox'
import { ContactId, Id, Nullable, RecordError, Timestamp } from '../platform/http/responses.ts'
import { newId } from '../platform/ids.ts'
import { LABEL, TEXT } from '../platform/personal.ts'
import { isClaimed, isFree, newClaim, RELEASED, releasedFor } from '../platform/postgres/lease.ts'
import type { Tenant } from '../platform/tenant.ts'

/** The number of bodies that a hook keeps. */
export const BODIES_KEPT = 50
/** The total size of a hook's kept bodies. */
const BYTES_KEPT_MAX = 4 * 1024 * 1024

/** The outcome of a body. */
export const BODY_FIELDS = {
  state: Type.Enum(['pending', 'recorded', 'skipped', 'failed'], {
    description:
      '`pending`: the mapping has not run yet. `recorded`: the records were written. `skipped`: the mapping skipped it. `failed`: the mapping could not turn it into records.',
  }),
  error: Nullable(RecordError, 'Why the body was skipped or failed, or why the last attempt did not finish.'),
  event: Nullable(Type.String(LABEL), 'The name of its event.'),
  event_id: Nullable(Id),
  contact_id: Nullable(ContactId),
  contact_status: Nullable(Type.Enum(['created', 'updated', 'unchanged']), 'What happened to the contact.'),
  company_id: Nullable(Id),
}
export const HookBody = Type.Object(
  {
    body_id: Id,
    hook_id: Id,
    received_at: Timestamp,
    size_bytes: Type.Integer(),
    warnings: Type.Array(Type.String(TEXT), {
      description:
        'What was left out of the body when it arrived, or kept as text, and the ids that the mapping ignored because they name nobody.',
    }),
    ...BODY_FIELDS,
    processed_at: Nullable(Timestamp, 'When the mapping last ran.'),
  },
  { title: 'HookBody' },
)
export type HookBody = Type.Static<typeof HookBody>

/** The outcome of a body, as stored. */
export interface Outcome {
  state: 'recorded' | 'skipped' | 'failed'
  error_code: string | null
  error_message: string | null
  event: string | null
  event_id: string | null
  event_key: string | null
  contact_id: string | null
  contact_status: string | null
  company_id: string | null
  /** The ids that the mapping ignored because they name nobody. */
  outcome_warnings: string[]
}

/** A body that this process is working on. */
export interface ClaimedBody {
  bodyId: string
  claim: string
  text: string
  receivedAt: Date
  /** The time of its writes to the contact and the company; null: now. */
  writesAt: Date | null
  /** Whether it was not recorded on arrival, so others may have written since. */
  isLate: boolean
  /** The key of the event that the body has already recorded. */
  eventKey: string | null
  eventId: string | null
  attempts: number
}

/** Stores a body, claimed by this process. It is durable when this function returns. */
export async function storeBody(
  tenant: Tenant,
  hookId: string,
  text: string,
  now: Date,
  warnings: readonly string[] = [],
): Promise<ClaimedBody> {
  const bodyId = newId()
  const claim = newId()
  await tenant.db
    .insertInto('hook_bodies')
    .values({
      body_id: bodyId,
      hook_id: hookId,
      received_at: now,
      body: text,
      warnings: [...warnings],
      size_bytes: Buffer.byteLength(text),
      state: 'pending',
      ...newClaim('hook_body', claim),
    })
    .execute()
  const timing = { receivedAt: now, writesAt: now, isLate: false }
  return { bodyId, claim, text, ...timing, eventKey: null, eventId: null, attempts: 0 }
}

/** Claims a body to run the mapping; null if another process has claimed it, or it is no longer kept. */
export async function claimBody(tenant: Tenant, hookId: string, bodyId: string): Promise<ClaimedBody | null> {
  const claim = newId()
  const row = await tenant.db
    .updateTable('hook_bodies')
    .set(newClaim('hook_body', claim))
    .where('hook_id', '=', hookId)
    .where('body_id', '=', bodyId)
    .where(isFree)
    .returning(['body', 'received_at', 'event_key', 'event_id', 'attempts'])
    .executeTakeFirst()
  if (!row) return null
  const { body: text, received_at: receivedAt, event_key: eventKey, event_id: eventId, attempts } = row
  const timing = { receivedAt, writesAt: receivedAt, isLate: true }
  return { bodyId, claim, text, ...timing, eventKey, eventId, attempts }
}

/** Stores the outcome of a claimed body, unless another process has claimed it since. */
export async function finishBody(tenant: Tenant, body: ClaimedBody, outcome: Outcome, now: Date): Promise<void> {
  await tenant.db
    .updateTable('hook_bodies')
    .set({ ...outcome, ...RELEASED, processed_at: now })
    .where('body_id', '=', body.bodyId)
    .where(isClaimed(body.claim))
    .execute()
}

/**
 * Releases a body that this process did not finish.
 * @param retry when and why to try again; null: the last outcome stays.
 */
export async function releaseBody(
  tenant: Tenant,
  body: ClaimedBody,
  retry: { pauseSeconds: number; code: string; message: string } | null,
): Promise<void> {
  const released =
    retry === null
      ? RELEASED
      : {
          ...releasedFor(retry.pauseSeconds),
          attempts: body.attempts + 1,
          error_code: retry.code,
          error_message: retry.message,
        }
  await tenant.db
    .updateTable('hook_bodies')
    .set(released)
    .where('body_id', '=', body.bodyId)
    .where(isClaimed(body.claim))
    .execute()
}

/**
 * Has the kept bodies of a hook that were skipped or failed recorded by its current mapping, soon and oldest first.
 * @returns how many.
 */
export async function retryBodies(tenant: Tenant, hookId: string): Promise<number> {
  const { numUpdatedRows } = await tenant.db
    .updateTable('hook_bodies')
    .set({ state: 'pending', attempts: 0, error_code: null, error_message: null, processed_at: null })
    .where('hook_id', '=', hookId)
    .where('state', 'in', ['skipped', 'failed'])
    .where(isFree)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** The id of the event with this key, if another kept body of the hook has recorded it; null if none has. */
export async function recordedBefore(
  tenant: Tenant,
  hookId: string,
  bodyId: string,
  eventKey: string,
): Promise<string | null> {
  const other = await tenant.db
    .selectFrom('hook_bodies')
    .select('event_id')
    .where('hook_id', '=', hookId)
    .where('event_key', '=', eventKey)
    .where('body_id', '!=', bodyId)
    .executeTakeFirst()
  return other?.event_id ?? null
}

/** Deletes a hook's oldest bodies beyond its limits. Bodies whose mapping has not run stay. */
export async function pruneBodies(tenant: Tenant, hookId: string): Promise<void> {
  const rows = await tenant.db
    .selectFrom('hook_bodies')
    .select(['body_id', 'size_bytes', 'state'])
    .where('hook_id', '=', hookId)
    .orderBy('received_at', 'desc')
    .orderBy('body_id', 'desc')
    .execute()
  let bytes = 0
  const surplus = rows.filter(({ size_bytes, state }, index) => {
    bytes += size_bytes
    return state !== 'pending' && (index >= BODIES_KEPT || bytes > BYTES_KEPT_MAX)
  })
  if (surplus.length === 0) return
  const ids = surplus.map(({ body_id }) => body_id)
  await tenant.db
    .deleteFrom('hook_bodies')
    .where('body_id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('state', '!=', 'pending')
    .execute()
}

type Result = Pick<HookBody, keyof typeof BODY_FIELDS>

/** An outcome in API responses. */
export function toResult(row: Omit<Outcome, 'state' | 'event_key'> & { state: HookBody['state'] }): Result {
  const { error_code: code, error_message: message } = row
  return {
    state: row.state,
    error: code === null ? null : { code, message: message ?? '' },
    event: row.event,
    event_id: row.event_id,
    contact_id: row.contact_id,
    contact_status: row.contact_status as Result['contact_status'],
    company_id: row.company_id,
  }
}
