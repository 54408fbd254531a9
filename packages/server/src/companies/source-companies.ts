import { sql } from 'kysely'
import { checkProperties, type Properties, type PropertyChanges } from '../contacts/properties.ts'
import { hasMoreCharacters } from '../platform/characters.ts'
import { type ErrorDetail, ServiceError, validationError } from '../platform/errors.ts'
import { type Failure, failure } from '../platform/http/records.ts'
import { ID_LENGTH_MAX } from '../platform/ids.ts'
import { Collision, changeRecords } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'
import { COMPANY_COLUMNS, type CompanyRow } from './company-object.ts'
import { parseCompanyDomain } from './domain.ts'
import { formKeys } from './form-changes.ts'
import { applyChanges, insertCompany } from './write.ts'

const NAME_LENGTH_MAX = 1_000

/** A company as a connected system has it. */
export interface SourceCompany {
  /** The system's id of the company. */
  externalId: string
  /** The system's ids of the records that were merged into this one. */
  mergedIds?: readonly string[]
  /** As sent; a text that is not a domain is left out. */
  domain: string | null
  name: string | null
  /** Everything that the system says of the company: a key that it no longer sends was removed there. */
  properties: Record<string, unknown>
}

export type CompanyResult = { status: 'created' | 'updated' | 'unchanged'; companyId: string } | Failure

/** What a source last said of a company. */
type Said = Record<string, Properties[string]>

/**
 * Writes a source's companies. A company is found by the source's id, else by its domain, else by the ids that were merged
 * into it, else created. Only what differs from what the source said last is written, so that an old value never replaces
 * what others have written since. @param computed the properties that only the service writes: they are left out
 */
export async function writeSourceCompanies(
  tenant: Tenant,
  source: string,
  sent: readonly SourceCompany[],
  computed: ReadonlySet<string>,
  now: Date,
): Promise<CompanyResult[]> {
  if (sent.length === 0) return []
  // A connected system may have them from here and repeat them.
  const companies = sent.map((company) => ({
    ...company,
    properties: Object.fromEntries(Object.entries(company.properties).filter(([key]) => !computed.has(key))),
  }))
  return changeRecords(tenant, async (tx) => {
    const results = new Map<SourceCompany, CompanyResult>()
    // Sorted, so that two transactions with the same companies cannot deadlock.
    const sorted = [...companies].sort((a, b) => (a.externalId < b.externalId ? -1 : 1))
    for (const company of sorted) results.set(company, await writeCompany(tx, source, company, now))
    return companies.map((company) => results.get(company) as CompanyResult)
  })
}

/** The companies with some ids of a source, by these ids. Their rows are locked against deletion. */
export async function companiesByKey(
  tx: Tenant,
  source: string,
  externalIds: readonly string[],
): Promise<Map<string, string>> {
  if (externalIds.length === 0) return new Map()
  const rows = await tx.db
    .selectFrom('company_sources')
    .innerJoin('companies', 'companies.company_id', 'company_sources.company_id')
    .select(['company_sources.external_id', 'company_sources.company_id'])
    .where('company_sources.source', '=', source)
    .where('company_sources.external_id', '=', sql<string>`any(${externalIds})`)
    .where('company_sources.is_deleted', '=', false)
    .orderBy('company_sources.company_id')
    .forKeyShare('companies')
    .execute()
  return new Map(rows.map(({ external_id, company_id }) => [external_id, company_id]))
}

/** Those of some companies that a source knows, or knew before it deleted them. */
export async function companiesOfSource(
  tx: Tenant,
  source: string,
  companyIds: readonly string[],
): Promise<Set<string>> {
  if (companyIds.length === 0) return new Set()
  const rows = await tx.db
    .selectFrom('company_sources')
    .select('company_id')
    .where('source', '=', source)
    .where('company_id', '=', sql<string>`any(${companyIds}::uuid[])`)
    .execute()
  return new Set(rows.map(({ company_id }) => company_id))
}

/** Forgets what a source said of companies that it deleted. The companies stay. @returns how many it knew. */
export async function forgetSourceCompanies(
  tenant: Tenant,
  source: string,
  externalIds: readonly string[],
): Promise<number> {
  if (externalIds.length === 0) return 0
  const { numUpdatedRows } = await tenant.db
    .updateTable('company_sources')
    .set({ is_deleted: true, fields: '{}' })
    .where('source', '=', source)
    .where('external_id', '=', sql<string>`any(${externalIds})`)
    .where('is_deleted', '=', false)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

async function writeCompany(
  tx: Tenant,
  source: string,
  { externalId, mergedIds = [], domain: sentDomain, name: sentName, properties }: SourceCompany,
  now: Date,
): Promise<CompanyResult> {
  const problems = problemsOf(externalId, properties)
  if (problems.length > 0) return failure(validationError(problems))
  const domain = sentDomain === null ? null : parseCompanyDomain(sentDomain)
  const name = nameOf(sentName)
  const ids = [externalId, ...mergedIds]
  const rows = await tx.db
    .selectFrom('company_sources')
    .select(['external_id', 'company_id', 'fields'])
    .where('source', '=', source)
    .where('external_id', '=', sql<string>`any(${ids})`)
    .orderBy('external_id')
    .forUpdate()
    .execute()
  const own = rows.find(({ external_id }) => external_id === externalId)
  const ofDomain = own ? undefined : await lockCompany(tx, null, domain)
  const merged = ids.flatMap((id) => rows.find(({ external_id }) => external_id === id) ?? [])
  const known = own ?? merged.find(({ company_id }) => !ofDomain || company_id === ofDomain.company_id)
  const saidBefore = (known?.fields ?? {}) as Said
  const said: Said = { ...(properties as Properties), ...(name === null ? {} : { name }) }
  const before = ofDomain ?? (known && (await lockCompany(tx, known.company_id, null)))
  try {
    const row = before
      ? await changeKnown(tx, before, { said, saidBefore, domain }, now)
      : await create(tx, { domain, name: name ?? domain ?? externalId, properties: properties as Properties }, now)
    await remember(tx, { source, externalId, companyId: row.company_id, said })
    const status = !before ? 'created' : row === before ? 'unchanged' : 'updated'
    return { status, companyId: row.company_id }
  } catch (error) {
    // Nothing was sent to the database yet, so the transaction can continue.
    if (error instanceof ServiceError) return failure(error)
    throw error
  }
}

function problemsOf(externalId: string, properties: Record<string, unknown>): ErrorDetail[] {
  const isId = externalId !== '' && !hasMoreCharacters(externalId, ID_LENGTH_MAX)
  const message = `must have 1 to ${ID_LENGTH_MAX} characters`
  return [...(isId ? [] : [{ path: 'external_id', message }]), ...checkProperties(properties)]
}

function nameOf(name: string | null): string | null {
  const trimmed = name?.trim() ?? ''
  return trimmed === '' || hasMoreCharacters(trimmed, NAME_LENGTH_MAX) ? null : trimmed
}

async function lockCompany(
  tx: Tenant,
  companyId: string | null,
  domain: string | null,
): Promise<CompanyRow | undefined> {
  const locking = tx.db.selectFrom('companies').select(COMPANY_COLUMNS).forUpdate()
  if (companyId !== null) return locking.where('company_id', '=', companyId).executeTakeFirst()
  return domain === null ? undefined : locking.where('domain', '=', domain).executeTakeFirst()
}

async function create(
  tx: Tenant,
  changes: { domain: string | null; name: string; properties: PropertyChanges },
  now: Date,
): Promise<CompanyRow> {
  const row = await insertCompany(tx, { changes, formKeys: [], isFromForm: false }, now)
  if (!row) throw new Collision()
  return row
}

async function changeKnown(
  tx: Tenant,
  before: CompanyRow,
  { said, saidBefore, domain }: { said: Said; saidBefore: Said; domain: string | null },
  now: Date,
): Promise<CompanyRow> {
  const { name, ...properties } = changesOf(saidBefore, said, before)
  const takesDomain = domain !== null && before.domain === null && !(await lockCompany(tx, null, domain))
  const changes = {
    properties,
    ...(typeof name === 'string' ? { name } : {}),
    ...(takesDomain ? { domain } : {}),
  }
  return applyChanges(tx, before, { changes, formKeys: formKeys(before, changes), isFromForm: false }, now)
}

/** What differs from what the source said last; null for a value that it removed and nobody has changed. */
function changesOf(saidBefore: Said, said: Said, { name, properties }: CompanyRow): PropertyChanges {
  const stored: Record<string, unknown> = { ...(properties as Properties), name }
  const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
  const changed = Object.entries(said).filter(([key, value]) => value !== null && !isSame(own(saidBefore, key), value))
  const removed = Object.entries(saidBefore).filter(
    ([key, value]) => key !== 'name' && (own(said, key) ?? null) === null && isSame(own(stored, key), value),
  )
  return Object.fromEntries([...changed, ...removed.map(([key]) => [key, null] as const)])
}

function own<Value>(values: Record<string, Value>, key: string): Value | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined
}

async function remember(
  tx: Tenant,
  { source, externalId, companyId, said }: { source: string; externalId: string; companyId: string; said: Said },
): Promise<void> {
  const fields = JSON.stringify(Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null)))
  await tx.db
    .insertInto('company_sources')
    .values({ source, external_id: externalId, company_id: companyId, fields, is_deleted: false })
    .onConflict((row) =>
      row.columns(['source', 'external_id']).doUpdateSet({ company_id: companyId, fields, is_deleted: false }),
    )
    .execute()
}
