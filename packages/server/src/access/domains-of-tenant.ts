import type { Selectable } from 'kysely'
import { conflict, notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { requireFewer } from '../platform/limits.ts'
import type { LookUpTxt } from '../platform/outbound/txt-records.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { announceChange } from '../platform/postgres/invalidation.ts'
import type { Tenant } from '../platform/tenant.ts'
import { newDomainRow, normalizeDomain, txtNameOf } from './domains.ts'

const DOMAINS_MAX = 500
const UNIQUE_VIOLATION = '23505'
const SHOWN_VALUES_MAX = 10
const SHOWN_LENGTH_MAX = 300

/** A domain with the record that proves its ownership. */
export interface TenantDomain {
  domain_id: string
  domain: string
  txt_name: string
  txt_value: string
  verified_at: string | null
  created_at: string
}

/** The result of a DNS lookup. */
export interface DomainCheck {
  verified: boolean
  problem: 'no_record' | 'other_value' | 'dns_unavailable' | null
  /** The values found under the name, each truncated. */
  found: string[]
}

/**
 * One page of a tenant's domains, in alphabetical order, and the total.
 * @param verified true for verified domains only, false for the others only.
 */
export async function listDomains(
  tenant: Tenant,
  { verified }: { verified?: boolean },
  page: Page,
): Promise<{ domains: TenantDomain[]; total: number }> {
  const all = tenant.db.selectFrom('domains')
  const matching = verified === undefined ? all : all.where('verified_at', verified ? 'is not' : 'is', null)
  const [rows, counted] = await Promise.all([
    matching.selectAll().orderBy('domain').limit(page.limit).offset(offsetOf(page)).execute(),
    matching.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirst(),
  ])
  return { domains: rows.map(toDomain), total: Number(counted?.count ?? 0) }
}

/** Adds an unverified domain, or returns the existing one. @throws ServiceError 400, or 409 `too_many_domains`. */
export async function addDomain(
  tx: Tenant,
  host: string,
  now: Date,
): Promise<{ domain: TenantDomain; isNew: boolean }> {
  const row = newDomainRow(normalizeDomain(host), null, now)
  const known = await tx.db.selectFrom('domains').selectAll().where('domain', '=', row.domain).executeTakeFirst()
  if (known) return { domain: toDomain(known), isNew: false }
  const all = tx.db.selectFrom('domains').select(({ fn }) => fn.countAll<number>().as('count'))
  const message = `A tenant can have at most ${DOMAINS_MAX} domains. Remove an unused one.`
  await requireFewer(tx, 'domains', DOMAINS_MAX, () => all.executeTakeFirstOrThrow(), message)
  const added = await tx.db
    .insertInto('domains')
    .values(row)
    .onConflict((existing) => existing.columns(['domain']).doUpdateSet({ domain: row.domain }))
    .returningAll()
    .executeTakeFirstOrThrow()
  return { domain: toDomain(added), isNew: added.domain_id === row.domain_id }
}

/** @throws ServiceError 404. */
export async function readDomain(tenant: Tenant, domainId: string): Promise<TenantDomain> {
  const row = await tenant.db.selectFrom('domains').selectAll().where('domain_id', '=', domainId).executeTakeFirst()
  if (!row) throw notFound('domain')
  return toDomain(row)
}

/** Checks in DNS whether the record exists. */
export async function checkRecord(lookUpTxt: LookUpTxt, domain: TenantDomain): Promise<DomainCheck> {
  const values = await lookUpTxt(domain.txt_name)
  if (values === null) return { verified: false, problem: 'dns_unavailable', found: [] }
  const verified = values.some((value) => value.trim() === domain.txt_value)
  const found = values.slice(0, SHOWN_VALUES_MAX).map((value) => value.slice(0, SHOWN_LENGTH_MAX).toWellFormed())
  const problem = values.length === 0 ? 'no_record' : 'other_value'
  return { verified, problem: verified ? null : problem, found }
}

/** Marks a domain whose record was found. @throws ServiceError 404, or 409 `domain_taken`. */
export async function markVerified(tx: Tenant, domainId: string, now: Date): Promise<TenantDomain> {
  const row = await tx.db
    .updateTable('domains')
    .set({ verified_at: now })
    .where('domain_id', '=', domainId)
    .returningAll()
    .executeTakeFirst()
    .catch((error: { code?: string }) => {
      if (error.code !== UNIQUE_VIOLATION) throw error
      throw conflict('domain_taken', 'Another tenant has verified this domain. It must be removed there first.')
    })
  if (!row) throw notFound('domain')
  await announceChange(tx.db)
  return toDomain(row)
}

/** @throws ServiceError 404. */
export async function removeDomain(tx: Tenant, domainId: string): Promise<TenantDomain> {
  const row = await tx.db.deleteFrom('domains').where('domain_id', '=', domainId).returningAll().executeTakeFirst()
  if (!row) throw notFound('domain')
  await announceChange(tx.db)
  return toDomain(row)
}

function toDomain(row: Selectable<TenantTables['domains']>): TenantDomain {
  return {
    domain_id: row.domain_id,
    domain: row.domain,
    txt_name: txtNameOf(row.domain),
    txt_value: row.txt_value,
    verified_at: row.verified_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  }
}
