import { sql } from 'kysely'
import { namesIn } from '../operations/audit.ts'
import { notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { wordsOf } from '../platform/http/query-parameters.ts'
import { isUuid, newId } from '../platform/ids.ts'
import { requireFewer } from '../platform/limits.ts'
import { contains } from '../platform/postgres/text-filters.ts'
import type { Tenant } from '../platform/tenant.ts'
import { IDENTITY_COLUMNS, type IdentityObject, toIdentityObject } from './identity-object.ts'
import type { IdentityChanges, NewIdentity } from './requests.ts'
import { socialStates } from './social/profiles.ts'

const IDENTITIES_MAX = 10_000
const SEARCHED_TEXT = sql`fold_text(concat_ws(' ', first_name, last_name, role, job_title, address))`

/** A page of the identities that contain every word of the search, newest first. */
export async function listIdentities(
  tenant: Tenant,
  search: string | undefined,
  page: Page,
): Promise<{ identities: IdentityObject[]; total: number }> {
  const words = wordsOf(search).map((word) => contains(SEARCHED_TEXT, word))
  const [rows, counted] = await Promise.all([
    selectIdentities(tenant)
      .where((eb) => eb.and(words))
      .orderBy('identities.created_at', 'desc')
      .orderBy('identities.identity_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    fromIdentities(tenant)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where((eb) => eb.and(words))
      .executeTakeFirst(),
  ])
  return { identities: await toObjects(tenant, rows), total: Number(counted?.count ?? 0) }
}

/** @throws ServiceError 404 */
export async function readIdentity(tenant: Tenant, identityId: string): Promise<IdentityObject> {
  const rows = await selectIdentities(tenant).where('identities.identity_id', '=', identityId).execute()
  const [identity] = await toObjects(tenant, rows)
  if (!identity) throw notFound('identity')
  return identity
}

/** @throws ServiceError 409 `too_many_identities`. */
export async function createIdentity(
  tenant: Tenant,
  { firstName, lastName, role }: NewIdentity,
  now: Date,
): Promise<IdentityObject> {
  const identityId = newId()
  return tenant.transaction(async (tx) => {
    await requireFewIdentities(tx)
    await tx.db
      .insertInto('identities')
      .values({
        identity_id: identityId,
        first_name: firstName,
        last_name: lastName,
        role,
        created_at: now,
        updated_at: now,
      })
      .execute()
    return readIdentity(tx, identityId)
  })
}

/** Changes the fields that are sent. @returns the values of those that changed, before and after. @throws ServiceError 404 */
export async function updateIdentity(
  tenant: Tenant,
  identityId: string,
  { firstName, lastName, jobTitle }: IdentityChanges,
  now: Date,
): Promise<{ identity: IdentityObject; changed: Record<string, { from: string | null; to: string | null }> }> {
  return tenant.transaction(async (tx) => {
    const before = await tx.db
      .selectFrom('identities')
      .select(['first_name', 'last_name', 'job_title'])
      .where('identity_id', '=', identityId)
      .forUpdate()
      .executeTakeFirst()
    if (!before) throw notFound('identity')
    const wanted = {
      first_name: firstName ?? before.first_name,
      last_name: lastName ?? before.last_name,
      job_title: jobTitle === undefined ? before.job_title : jobTitle,
    }
    const changed = (['first_name', 'last_name', 'job_title'] as const).filter((key) => wanted[key] !== before[key])
    if (changed.length > 0) {
      await tx.db
        .updateTable('identities')
        .set({ ...wanted, updated_at: now })
        .where('identity_id', '=', identityId)
        .execute()
    }
    const changes = changed.map((key) => [key, { from: before[key], to: wanted[key] }] as const)
    return { identity: await readIdentity(tx, identityId), changed: Object.fromEntries(changes) }
  })
}

/**
 * Deletes an identity with its email account and its logins. Agents that used it lose their default.
 * @returns its name. @throws ServiceError 404
 */
export async function deleteIdentity(
  tenant: Tenant,
  identityId: string,
): Promise<{ firstName: string; lastName: string }> {
  const row = await tenant.db
    .deleteFrom('identities')
    .where('identity_id', '=', identityId)
    .returning(['first_name', 'last_name'])
    .executeTakeFirst()
  if (!row) throw notFound('identity')
  return { firstName: row.first_name, lastName: row.last_name }
}

/** How the audit log names an identity. */
export function subject(identityId: string) {
  return { subjectKind: 'identity', subjectId: identityId }
}

/** An identity as its senders see it. */
export type IdentityOfSender = Awaited<ReturnType<typeof selectSenders>>[number]

/** The identities that senders use, by id. */
export async function findSenders(tenant: Tenant, ids: readonly string[]): Promise<Map<string, IdentityOfSender>> {
  const rows = ids.length === 0 ? [] : await selectSenders(tenant, ids)
  return new Map(rows.map((row) => [row.identity_id, row]))
}

function selectSenders(tenant: Tenant, ids: readonly string[]) {
  return fromIdentities(tenant)
    .select(['identities.identity_id', 'first_name', 'last_name', 'role', 'job_title', 'email_accounts.address'])
    .where('identities.identity_id', 'in', ids)
    .execute()
}

/** Locks an identity against deletion until the commit. @returns whether it exists. */
export async function lockIdentity({ db }: Tenant, identityId: string): Promise<boolean> {
  if (!isUuid(identityId)) return false
  const query = db.selectFrom('identities').select('identity_id').where('identity_id', '=', identityId)
  return (await query.forKeyShare().executeTakeFirst()) !== undefined
}

/** The names of identities, for the audit log. */
export function namesOfIdentities({ db }: Tenant, ids: readonly string[]) {
  const name = sql<string>`trim(first_name || ' ' || last_name)`.as('name')
  return namesIn(db.selectFrom('identities').select(['identity_id as id', name]).where('identity_id', 'in', ids))
}

function fromIdentities(tenant: Tenant) {
  return tenant.db
    .selectFrom('identities')
    .leftJoin('email_accounts', 'email_accounts.identity_id', 'identities.identity_id')
}

function selectIdentities(tenant: Tenant) {
  return fromIdentities(tenant)
    .select(IDENTITY_COLUMNS)
    .select(['email_accounts.address', 'email_accounts.verified_at', 'email_accounts.error'])
}

type Rows = Awaited<ReturnType<ReturnType<typeof selectIdentities>['execute']>>

async function toObjects(tenant: Tenant, rows: Rows): Promise<IdentityObject[]> {
  const social = await socialStates(
    tenant,
    rows.map(({ identity_id }) => identity_id),
  )
  return rows.map((row) => {
    const email = { address: row.address, connected: row.verified_at !== null && row.error === null }
    return toIdentityObject(row, email, social.get(row.identity_id))
  })
}

/** @throws ServiceError 409 `too_many_identities` */
async function requireFewIdentities(tx: Tenant): Promise<void> {
  const all = tx.db.selectFrom('identities').select(({ fn }) => fn.countAll<number>().as('count'))
  const message = `A tenant can have at most ${IDENTITIES_MAX} identities. Delete an unused one.`
  await requireFewer(tx, 'identities', IDENTITIES_MAX, () => all.executeTakeFirstOrThrow(), message)
}
