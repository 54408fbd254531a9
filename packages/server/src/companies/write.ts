import { sql } from 'kysely'
import { computedAmong, requireNotComputed } from '../contacts/computed-names.ts'
import { lockContactsOfCompany } from '../contacts/locks.ts'
import { companiesWithContacts } from '../contacts/of-companies.ts'
import { mergeProperties, type Properties, type PropertyValue } from '../contacts/properties.ts'
import { requireCompanyFits } from '../contacts/size.ts'
import { changeContacts, type WriteDependencies } from '../contacts/writing/transaction.ts'
import type { CompanyOfWrite, WrittenCompany } from '../contacts/writing/write.ts'
import { conflict, notFound, ServiceError, validationError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import { Collision, changeRecords } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'
import { COMPANY_COLUMNS, type CompanyChanges, type CompanyRow, etagOfCompany } from './company-object.ts'
import { blanksOf, type CompanyOfForm, changesOfForm, formKeys, keysOf } from './form-changes.ts'

const FOLLOWED_AT_ONCE = 500

/** @throws ServiceError 409 `company_domain_taken`, 413 `company_too_large`. */
export async function createCompany(tenant: Tenant, changes: CompanyChanges, now: Date): Promise<CompanyRow> {
  const row = await insertCompany(tenant, { changes, formKeys: [], isFromForm: false }, now)
  if (row) return row
  const existing = await findByDomain(tenant, changes.domain ?? '')
  throw domainTaken(existing?.company_id ?? '')
}

/**
 * @param computed the names of properties that the service computes
 * @param requireMatch checks the ETag of the company once it is locked.
 * @throws ServiceError 404, 409 `company_domain_taken`, 400 for too many properties or neither name nor domain, 413
 * `company_too_large`.
 */
export async function updateCompany(
  tenant: Tenant,
  companyId: string,
  changes: CompanyChanges,
  now: Date,
  computed: ReadonlySet<string>,
  requireMatch: (etag: string) => void,
): Promise<CompanyRow> {
  return changeRecords(tenant, async (tx) => {
    const before = await tx.db
      .selectFrom('companies')
      .select(COMPANY_COLUMNS)
      .where('company_id', '=', companyId)
      .forUpdate()
      .executeTakeFirst()
    if (!before) throw notFound('company')
    requireMatch(etagOfCompany(before, computed))
    if (changes.domain && changes.domain !== before.domain) {
      const existing = await findByDomain(tx, changes.domain)
      if (existing) throw domainTaken(existing.company_id)
    }
    const write = { changes, formKeys: formKeys(before, changes), isFromForm: false }
    return applyChanges(tx, before, write, now)
  })
}

/** Deletes a company. Its contacts remain, without a company; their segments are updated. @throws ServiceError 404. */
export async function deleteCompany(
  tenant: Tenant,
  dependencies: WriteDependencies,
  companyId: string,
  requireMatch: (etag: string) => void,
): Promise<void> {
  await changeContacts(tenant, dependencies, async (tx, log) => {
    const contactIds = await lockContactsOfCompany(tx, companyId)
    const deleted = await tx.db
      .deleteFrom('companies')
      .where('company_id', '=', companyId)
      .returning(COMPANY_COLUMNS)
      .executeTakeFirst()
    if (!deleted) throw notFound('company')
    requireMatch(etagOfCompany(deleted, (await dependencies.findComputedNames(tx)).companies))
    // For a large company, segments are updated in the background, within seconds, to keep the transaction short.
    if (contactIds.length > FOLLOWED_AT_ONCE) await dependencies.segments.followLater(tx, contactIds)
    else for (const id of contactIds) log.noteChange(id, ['company_id'])
  })
}

/** A company that a group call names, by its domain, the tenant's own id, or both. */
export interface CompanyOfGroup {
  /** Normalized, see domain.ts. */
  domain: string | null
  externalId: string | null
  name?: string
  properties: Properties
}

/** How a company is written with the contact that a form, a call or a hook names. */
export function companyOfWrite(
  data: CompanyOfForm | CompanyOfGroup,
  options: { isVerified: boolean; asOf?: Date | null },
): CompanyOfWrite {
  const externalId = 'externalId' in data ? data.externalId : null
  return {
    key: data.domain ?? externalId ?? '',
    write: (tx, now, computed) => upsertCompany(tx, data, { ...options, computed }, now),
  }
}

/**
 * Finds or creates the company that a form or a group call names. On an existing company, a form or a page fills blanks
 * and replaces values from earlier ones; a verified sender replaces everything. Call it in the transaction that links
 * the contact.
 * @param computed the properties that only the service writes. @param asOf when the values were sent, if that was earlier: of a company that was changed since, they fill blanks.
 */
async function upsertCompany(
  tx: Tenant,
  data: CompanyOfForm | CompanyOfGroup,
  { isVerified, asOf = null, computed }: { isVerified: boolean; asOf?: Date | null; computed: ReadonlySet<string> },
  now: Date,
): Promise<WrittenCompany> {
  const { domain, name } = data
  if (isVerified) requireNotComputed(data.properties, computed)
  const barred = computedAmong(data.properties, computed)
  const properties = Object.fromEntries(Object.entries(data.properties).filter(([key]) => !computed.has(key)))
  const externalId = 'externalId' in data ? data.externalId : null
  const isFromForm = !isVerified
  const existing = await lockNamed(tx, domain, externalId)
  if (!existing) {
    const changes = { domain, name: name ?? (domain === null ? externalId : null), properties }
    const write = { changes, externalId, formKeys: isVerified ? [] : keysOf({ ...data, properties }), isFromForm }
    const created = await insertCompany(tx, write, now)
    if (!created) throw new Collision()
    return { companyId: created.company_id, ignored: barred }
  }
  const all = { ...(name === undefined ? {} : { name }), properties }
  const sent = asOf !== null && existing.updated_at > asOf ? blanksOf(existing, all) : all
  const { ignored, ...write } = isVerified
    ? { ignored: [], changes: sent, formKeys: formKeys(existing, sent) }
    : changesOfForm(existing, sent)
  await applyChanges(tx, existing, { ...write, isFromForm }, now)
  return { companyId: existing.company_id, ignored: [...barred, ...ignored] }
}

/** The company with the tenant's own id, else the one with the domain; its row is locked. */
async function lockNamed(
  tx: Tenant,
  domain: string | null,
  externalId: string | null,
): Promise<CompanyRow | undefined> {
  const locking = tx.db.selectFrom('companies').select(COMPANY_COLUMNS).forUpdate()
  const own = externalId === null ? undefined : await locking.where('external_id', '=', externalId).executeTakeFirst()
  return own ?? (domain === null ? undefined : locking.where('domain', '=', domain).executeTakeFirst())
}

/**
 * Finds the companies with some domains, and creates missing ones with the given names. Existing companies do not
 * change. Call it in the transaction that links their contacts.
 * @returns the ids by domain, and which of them are new; a domain is missing if its company was deleted concurrently.
 */
export async function findOrCreateCompanies(
  tx: Tenant,
  nameByDomain: ReadonlyMap<string, string | null>,
  now: Date,
): Promise<{ byDomain: Map<string, string>; created: string[] }> {
  if (nameByDomain.size === 0) return { byDomain: new Map(), created: [] }
  // Sorted, so that two transactions with the same new domains cannot deadlock.
  const domains = [...nameByDomain.keys()].sort()
  const found = await idsByDomain(tx, domains)
  const missing = domains.filter((domain) => !found.has(domain))
  if (missing.length === 0) return { byDomain: found, created: [] }
  const rows = missing.map((domain) => ({
    company_id: newId(),
    domain,
    name: nameByDomain.get(domain) ?? null,
    properties: {},
    created_at: now,
    updated_at: now,
  }))
  const created = await tx.db
    .insertInto('companies')
    .values(rows)
    .onConflict((existing) => existing.columns(['domain']).doNothing())
    .returning('company_id')
    .execute()
  return { byDomain: await idsByDomain(tx, domains), created: created.map(({ company_id }) => company_id) }
}

/**
 * Deletes those of some companies that nobody has changed since they were created, and that have no contacts.
 * @returns how many.
 */
export async function deleteUnusedCompanies(tx: Tenant, companyIds: readonly string[]): Promise<number> {
  // Locked first: whoever links a contact to one at the same time is then seen by the second statement.
  const unchanged = await tx.db
    .selectFrom('companies')
    .select('company_id')
    .where('company_id', '=', sql<string>`any(${companyIds}::uuid[])`)
    .whereRef('updated_at', '=', 'created_at')
    .where('form_keys', '=', sql<string[]>`'{}'`)
    .orderBy('company_id')
    .forUpdate()
    .execute()
  const ids = unchanged.map(({ company_id }) => company_id)
  const used = await companiesWithContacts(tx, ids)
  const { numDeletedRows } = await tx.db
    .deleteFrom('companies')
    .where('company_id', '=', sql<string>`any(${ids.filter((id) => !used.has(id))}::uuid[])`)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Keeps a company from being deleted until the transaction ends. @returns whether it exists. */
export async function keepCompany(tx: Tenant, companyId: string): Promise<boolean> {
  const company = await tx.db
    .selectFrom('companies')
    .select('company_id')
    .where('company_id', '=', companyId)
    .forKeyShare()
    .executeTakeFirst()
  return company !== undefined
}

async function idsByDomain(tx: Tenant, domains: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.db
    .selectFrom('companies')
    .select(['company_id', 'domain'])
    .where('domain', '=', sql<string>`any(${domains})`)
    .execute()
  return new Map(rows.map(({ domain, company_id }) => [domain ?? '', company_id]))
}

export interface CompanyWrite {
  changes: CompanyChanges
  /** The tenant's own id of a new company. */
  externalId?: string | null
  /** The keys that only forms have written, including this write. */
  formKeys: string[]
  isFromForm: boolean
}

/** @returns undefined if a company with the domain or the tenant's own id exists. */
export async function insertCompany(
  tx: Tenant,
  { changes, externalId: external_id = null, formKeys: form_keys, isFromForm }: CompanyWrite,
  now: Date,
): Promise<CompanyRow | undefined> {
  const { properties } = mergeProperties({}, changes.properties)
  requireCompanyFits({}, properties, isFromForm)
  const { domain = null, name = null } = changes
  return tx.db
    .insertInto('companies')
    .values({ company_id: newId(), domain, name, external_id, properties, form_keys, created_at: now, updated_at: now })
    .onConflict((existing) => existing.doNothing())
    .returning(COMPANY_COLUMNS)
    .executeTakeFirst()
}

/** Changes a company, whose row the caller has locked. @returns `before` itself if nothing changed. */
export async function applyChanges(
  tx: Tenant,
  before: CompanyRow,
  { changes, formKeys: form_keys, isFromForm }: CompanyWrite,
  now: Date,
): Promise<CompanyRow> {
  const stored = before.properties as Properties
  const { properties, changed } = mergeProperties(stored, changes.properties)
  requireCompanyFits(stored, properties, isFromForm)
  const { domain = before.domain, name = before.name } = changes
  if (domain === null && name === null) {
    const path = changes.name === null ? 'name' : 'domain'
    throw validationError([
      { path, message: 'cannot be removed: a company needs a name or a domain. Set the other one first' },
    ])
  }
  const isNews = changed.length > 0 || domain !== before.domain || name !== before.name
  if (!isNews && form_keys.length === before.form_keys.length) return before
  return tx.db
    .updateTable('companies')
    .set({ domain, name, properties, form_keys, ...(isNews ? { updated_at: now } : {}) })
    .where('company_id', '=', before.company_id)
    .returning(COMPANY_COLUMNS)
    .executeTakeFirstOrThrow()
}

/**
 * Writes the properties that the service computes of companies; null for one that a company must not have.
 * @returns the ids of those that exist.
 */
export async function computeCompanies(
  tx: Tenant,
  values: ReadonlyMap<string, Readonly<Record<string, PropertyValue | null>>>,
  now: Date,
): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('companies')
    .select(COMPANY_COLUMNS)
    .where('company_id', '=', sql<string>`any(${[...values.keys()]}::uuid[])`)
    .orderBy('company_id')
    .forUpdate()
    .execute()
  for (const row of rows) {
    const changes = { properties: values.get(row.company_id) ?? {} }
    try {
      await applyChanges(tx, row, { changes, formKeys: row.form_keys, isFromForm: false }, now)
    } catch (error) {
      // A company that is full keeps what it has.
      if (!(error instanceof ServiceError) || error.status >= 500) throw error
    }
  }
  return rows.map(({ company_id }) => company_id)
}

async function findByDomain(tx: Tenant, domain: string) {
  return tx.db.selectFrom('companies').select('company_id').where('domain', '=', domain).executeTakeFirst()
}

function domainTaken(companyId: string): ServiceError {
  const message = 'A company with this domain already exists. Update that company instead.'
  return conflict('company_domain_taken', message, [{ path: 'company_id', message: companyId }])
}
