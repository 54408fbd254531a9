import Type from 'typebox'
import { changeContact } from '../contacts/writing/change.ts'
import { openSet } from '../contacts/writing/keys.ts'
import { storeSet } from '../contacts/writing/store.ts'
import { type ChangeLog, changeContacts, type WriteDependencies } from '../contacts/writing/transaction.ts'
import { parseEmail } from '../platform/email.ts'
import { conflict, notFound, validationError } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { Nullable, Timestamp } from '../platform/http/responses.ts'
import { personal, TEXT } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import {
  digestOf,
  isOwnersChoice,
  type Suppression,
  type SuppressionReason,
  suppress,
  suppressionOf,
} from './suppressions.ts'

const REASONS = ['unsubscribed', 'bounced', 'complained', 'manual'] as const satisfies readonly SuppressionReason[]

export const SuppressionDescription = Type.Object(
  {
    address: Type.String({ description: 'A digest (`sha256:…`) if its owner was erased.', ...personal('email') }),
    reason: Type.Enum(REASONS),
    details: Nullable(
      Type.String({
        description: 'The details as recorded, such as the reply of the mail server that refused the mail.',
        ...TEXT,
      }),
    ),
    at: Timestamp,
  },
  { title: 'Suppression' },
)
export type SuppressionDescription = Type.Static<typeof SuppressionDescription>

/** A page of suppressed addresses, latest first, and the total number. */
export async function listSuppressions(
  tenant: Tenant,
  page: Page,
): Promise<{ suppressions: SuppressionDescription[]; total: number }> {
  const rows = await tenant.db
    .selectFrom('email_suppressions')
    .select(['address', 'reason', 'details', 'at'])
    .orderBy('at', 'desc')
    .orderBy('address')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  const { total } = await tenant.db
    .selectFrom('email_suppressions')
    .select(({ fn }) => fn.countAll().as('total'))
    .executeTakeFirstOrThrow()
  const suppressions = rows.map((row) => toDescription({ ...row, reason: row.reason as SuppressionReason }))
  return { suppressions, total: Number(total) }
}

/** @throws ServiceError 404 if the address is not suppressed. */
export async function readSuppression(tenant: Tenant, address: string): Promise<SuppressionDescription> {
  const known = await suppressionOf(tenant, addressInPath(address))
  if (!known) throw notFound('suppressed address')
  return toDescription(known)
}

/**
 * Suppresses an address manually. An address that is already suppressed is left unchanged.
 * @throws ServiceError 400
 */
export async function addSuppression(
  tenant: Tenant,
  wanted: { address: string; details: string | null },
  now: Date,
): Promise<{ suppression: SuppressionDescription; added: boolean }> {
  const address = parseEmail(wanted.address)
  if (address === null) throw validationError([{ path: 'address', message: 'is not a valid email address' }])
  const before = await suppressionOf(tenant, address)
  if (before) return { suppression: toDescription(before), added: false }
  const suppression = { address, reason: 'manual', details: wanted.details } as const
  await suppress(tenant, suppression, now)
  return { suppression: toDescription({ ...suppression, at: now }), added: true }
}

/**
 * Allows mail to an address again. If its owner unsubscribed or complained, this requires their consent, and their
 * contact becomes subscribed.
 * @throws ServiceError 404 if the address is not suppressed; 409 `consent_required`.
 */
export async function removeSuppression(
  tenant: Tenant,
  writing: WriteDependencies,
  wanted: { address: string; isConsented: boolean },
): Promise<SuppressionDescription> {
  const address = addressInPath(wanted.address)
  const now = writing.clock()
  return changeContacts(tenant, writing, async (tx, log) => {
    const places = [address, digestOf(tx, address)]
    // Locked, so that a concurrent unsubscribe happens either before or after this.
    await tx.db.selectFrom('email_suppressions').select('at').where('address', 'in', places).forUpdate().execute()
    const removed = await suppressionOf(tx, address)
    if (!removed) throw notFound('suppressed address')
    const needsConsent = isOwnersChoice(removed.reason)
    if (needsConsent && !wanted.isConsented) {
      const what = removed.reason === 'complained' ? 'complained about mail' : 'unsubscribed'
      throw conflict(
        'consent_required',
        `The owner of this address ${what}. To allow mail again, confirm that they have since agreed to it.`,
      )
    }
    await tx.db.deleteFrom('email_suppressions').where('address', 'in', places).execute()
    if (needsConsent) await resubscribe(tx, log, address, now)
    return toDescription(removed)
  })
}

/** Undoes the change that unsubscribing made to the contact. Whoever confirms the consent is a person. */
async function resubscribe(tx: Tenant, log: ChangeLog, address: string, now: Date): Promise<void> {
  const set = await openSet(tx, [{ emails: [address] }])
  const contact = set.find('email', address)
  if (!contact) return
  changeContact(set, contact, { source: 'manual', kind: 'manual', properties: { unsubscribed: false } }, now)
  await storeSet(tx, log, set)
}

/** Parses the address in a path. @throws ServiceError 404: a malformed address is never suppressed. */
export function addressInPath(text: string): string {
  const address = parseEmail(text)
  if (address === null) throw notFound('suppressed address')
  return address
}

/** Audit entries are never changed, and the address may have to be erased, so they contain only its digest. */
export function subject(tenant: Tenant, address: string) {
  return { subjectKind: 'suppression', subjectId: digestOf(tenant, address) }
}

function toDescription({ at, ...suppression }: Suppression): SuppressionDescription {
  return { ...suppression, at: at.toISOString() }
}
