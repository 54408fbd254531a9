import { type Actor, audit } from '../audit/log.ts'
import { changeContact, lockContact } from '../contacts/change.ts'
import { changeContacts, type WriteDependencies } from '../contacts/change-log.ts'
import { hasMoreCharacters } from '../platform/characters.ts'
import { parseEmail } from '../platform/email.ts'
import { conflict, notFound, validationError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import type { Tenant } from '../platform/tenant.ts'
import { digestOf, isWish, type Suppression, type SuppressionReason, suppress, suppressionOf } from './suppressions.ts'

const DETAILS_LENGTH_MAX = 500

/** An address that gets no more mail, as it is shown; that of somebody who was erased is a digest (`sha256:…`). */
export interface SuppressionDescription {
  address: string
  reason: SuppressionReason
  details: string | null
  at: string
}

/** The latest of a tenant's suppressed addresses, and how many there are in all. */
export async function listSuppressions(
  tenant: Tenant,
  limit: number,
): Promise<{ suppressions: SuppressionDescription[]; total_items: number }> {
  const rows = await tenant.db
    .selectFrom('email_suppressions')
    .select(['address', 'reason', 'details', 'at'])
    .orderBy('at', 'desc')
    .orderBy('address')
    .limit(limit)
    .execute()
  const { total } = await tenant.db
    .selectFrom('email_suppressions')
    .select(({ fn }) => fn.countAll().as('total'))
    .executeTakeFirstOrThrow()
  const suppressions = rows.map((row) => toDescription({ ...row, reason: row.reason as SuppressionReason }))
  return { suppressions, total_items: Number(total) }
}

/** Why an address gets no more mail. @throws ServiceError 400; 404 when it may be written to. */
export async function readSuppression(tenant: Tenant, address: string): Promise<SuppressionDescription> {
  const known = await suppressionOf(tenant, checkedAddress(address))
  if (!known) throw notFound('suppressed address')
  return toDescription(known)
}

/**
 * Stops mail to an address by hand. One that gets none already stays as it is.
 * @throws ServiceError 400
 */
export async function addSuppression(
  tenant: Tenant,
  actor: Actor,
  wanted: { address: string; details: string | null },
  now: Date,
): Promise<SuppressionDescription & { added: boolean }> {
  const address = checkedAddress(wanted.address)
  const { details } = wanted
  if (details !== null && (hasMoreCharacters(details, DETAILS_LENGTH_MAX) || !isStorableText(details))) {
    throw validationError([{ path: 'details', message: `must be a text of up to ${DETAILS_LENGTH_MAX} characters` }])
  }
  return tenant.transaction(async (tx) => {
    const before = await suppressionOf(tx, address)
    if (before) return { ...toDescription(before), added: false }
    await suppress(tx, { address, reason: 'manual', details }, now)
    await audit(tx, { actor, action: 'suppression.added', ...subject(tx, address) }, now)
    return { ...toDescription({ address, reason: 'manual', details, at: now }), added: true }
  })
}

/**
 * Lets mail go to an address again. Where its owner unsubscribed or complained, only with their consent; their contact
 * then counts as subscribed.
 * @throws ServiceError 400; 404 when it may be written to; 409 `consent_required`.
 */
export async function removeSuppression(
  tenant: Tenant,
  writing: WriteDependencies,
  actor: Actor,
  wanted: { address: string; isConsented: boolean },
): Promise<SuppressionDescription> {
  const address = checkedAddress(wanted.address)
  const now = writing.clock()
  return changeContacts(tenant, writing, async (tx, log) => {
    const places = [address, digestOf(tx, address)]
    // Whoever unsubscribes at this moment does so before or afterwards.
    await tx.db.selectFrom('email_suppressions').select('at').where('address', 'in', places).forUpdate().execute()
    const removed = await suppressionOf(tx, address)
    if (!removed) throw notFound('suppressed address')
    const needsConsent = isWish(removed.reason)
    if (needsConsent && !wanted.isConsented) {
      const what = removed.reason === 'complained' ? 'complained of mail' : 'unsubscribed'
      throw conflict(
        'consent_required',
        `The owner of this address ${what}. It gets mail again only when they have agreed to that since, and you say so.`,
      )
    }
    await tx.db.deleteFrom('email_suppressions').where('address', 'in', places).execute()
    if (needsConsent) await resubscribe(tx, log, address, now)
    const details = { reason: removed.reason, ...(needsConsent ? { consented: true } : {}) }
    await audit(tx, { actor, action: 'suppression.removed', ...subject(tx, address), details }, now)
    return toDescription(removed)
  })
}

/** Takes back what unsubscribing has written on the contact. */
async function resubscribe(
  tx: Tenant,
  log: Parameters<typeof changeContact>[1],
  address: string,
  now: Date,
): Promise<void> {
  const found = await tx.db.selectFrom('contacts').select('contact_id').where('email', '=', address).executeTakeFirst()
  const contact = found && (await lockContact(tx, found.contact_id))
  if (!contact) return
  const write = { source: 'email', kind: 'email', properties: { unsubscribed: false } } as const
  await changeContact(tx, log, contact, write, now)
}

function checkedAddress(address: string): string {
  const parsed = parseEmail(address)
  if (parsed === null) throw validationError([{ path: 'address', message: 'is not a valid e-mail address' }])
  return parsed
}

/** The audit log is never changed, so an address that may have to be erased is in it as a digest. */
function subject(tenant: Tenant, address: string) {
  return { subjectKind: 'suppression', subjectId: digestOf(tenant, address) }
}

function toDescription({ at, ...suppression }: Suppression): SuppressionDescription {
  return { ...suppression, at: at.toISOString() }
}
