import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { conflict, notFound, validationError } from '../platform/errors.ts'
import { isUuid } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_SECONDS } from '../platform/time.ts'
import { secretPlace } from './sealed-columns.ts'
import { newSigningSecret } from './signature.ts'

const OVERLAP_SECONDS = DAY_SECONDS
export const OVERLAP_SECONDS_MAX = 30 * DAY_SECONDS

export interface Rotation {
  /** How long both secrets sign `webhook-signature`; 0 revokes the old one at once. Default: a day. */
  overlapSeconds?: number | undefined
  /** When `X-Service-Signature`, which contains one signature, switches to the new secret. Default: the end of the overlap. */
  switchAt?: Date | undefined
}

/**
 * Creates a new secret for a subscription. Only this response contains it.
 * @throws ServiceError 400, 404, or 409 `rotation_under_way` while the previous rotation overlaps, unless this one revokes
 * both earlier secrets at once.
 */
export async function rotateSecret(
  tenant: Tenant,
  secrets: SecretBox,
  subscriptionId: string,
  { overlapSeconds = OVERLAP_SECONDS, switchAt }: Rotation,
  now: Date,
): Promise<{ signingSecret: string; previousUntil: Date; switchAt: Date }> {
  const previousUntil = new Date(now.getTime() + overlapSeconds * 1000)
  const switched = switchAt ?? previousUntil
  if (switched < now || switched > previousUntil) {
    throw validationError([{ path: 'switch_at', message: 'must be between now and the end of the overlap' }])
  }
  if (!isUuid(subscriptionId)) throw notFound('webhook subscription')
  const id = subscriptionId.toLowerCase()
  const signingSecret = newSigningSecret()
  const sealed = secrets.seal(signingSecret, secretPlace(tenant.id, id))
  await tenant.transaction(async (tx) => {
    const row = await tx.db
      .selectFrom('webhook_subscriptions')
      .select(['secret_sealed', 'previous_until'])
      .where('subscription_id', '=', id)
      .forUpdate()
      .executeTakeFirst()
    if (!row) throw notFound('webhook subscription')
    if (overlapSeconds > 0 && row.previous_until !== null && row.previous_until > now) {
      const message = `The previous rotation overlaps until ${row.previous_until.toISOString()}. Wait until then, or rotate without an overlap.`
      throw conflict('rotation_under_way', message)
    }
    await tx.db
      .updateTable('webhook_subscriptions')
      .set({
        secret_sealed: sealed,
        previous_secret_sealed: overlapSeconds > 0 ? row.secret_sealed : null,
        previous_until: overlapSeconds > 0 ? previousUntil : null,
        switch_at: overlapSeconds > 0 ? switched : null,
        updated_at: now,
      })
      .where('subscription_id', '=', id)
      .execute()
  })
  return { signingSecret, previousUntil, switchAt: switched }
}
