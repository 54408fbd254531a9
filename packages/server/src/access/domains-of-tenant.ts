import type { Selectable } from 'kysely'
import { namesIn } from '../operations/audit.ts'
import { conflict, notFound, ServiceError } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { requireFewer } from '../platform/limits.ts'
import { UNIQUE_VIOLATION } from '../platform/postgres/collisions.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { announceChange } from '../platform/postgres/invalidation.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Proof, placesOf } from './domain-proofs.ts'
import { domainsOf, newDomainRow, normalizeDomain } from './domains.ts'
import { isLocalDomain, isLoopback } from './loopback.ts'

const DOMAINS_MAX = 500

/** A domain with the places where its owner may prove it. */
export interface TenantDomain extends ReturnType<typeof placesOf> {
  domain_id: string
  domain: string
  verified_at: string | null
  verified_by: Proof | null
  created_at: string
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

/** The domains that a tenant has verified. */
export async function verifiedDomains({ db }: Tenant): Promise<string[]> {
  const rows = await db.selectFrom('domains').select('domain').where('verified_at', 'is not', null).execute()
  return rows.map(({ domain }) => domain)
}

/**
 * Adds a domain, or returns the existing one. It is unverified, unless it means this machine and the service runs on it:
 * then there is nothing to prove.
 * @throws ServiceError 400, or 409 `too_many_domains` or `domain_taken`.
 */
export async function addDomain(
  tx: Tenant,
  host: string,
  publicUrl: string,
  now: Date,
): Promise<{ domain: TenantDomain; isNew: boolean }> {
  const domain = normalizeDomain(host)
  const isLocal = isLocalHere(domain, publicUrl)
  const known = await tx.db.selectFrom('domains').selectAll().where('domain', '=', domain).executeTakeFirst()
  if (known && isLocal && known.verified_at === null) {
    return { domain: await markVerified(tx, known.domain_id, 'local', now), isNew: false }
  }
  if (known) return { domain: toDomain(known), isNew: false }
  const all = tx.db.selectFrom('domains').select(({ fn }) => fn.countAll<number>().as('count'))
  const message = `A tenant can have at most ${DOMAINS_MAX} domains. Remove an unused one.`
  await requireFewer(tx, 'domains', DOMAINS_MAX, () => all.executeTakeFirstOrThrow(), message)
  const row = newDomainRow(domain, isLocal ? 'local' : null, now)
  const added = await tx.db
    .insertInto('domains')
    .values(row)
    .onConflict((existing) => existing.columns(['domain']).doUpdateSet({ domain }))
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch(refuseTaken(domain))
  if (isLocal) await announceChange(tx.db)
  return { domain: toDomain(added), isNew: added.domain_id === row.domain_id }
}

/**
 * Adds a domain as verified, without a proof, on behalf of the operator. One that is verified keeps its proof.
 * @throws ServiceError 400 for an invalid host name or a public suffix, 409 `domain_taken`.
 */
export async function addVerifiedDomain(tx: Tenant, host: string, now: Date): Promise<TenantDomain> {
  const domain = normalizeDomain(host)
  const row = await tx.db
    .insertInto('domains')
    .values(newDomainRow(domain, 'operator', now))
    .onConflict((existing) =>
      existing.columns(['domain']).doUpdateSet(({ ref, fn }) => ({
        verified_at: fn.coalesce(ref('domains.verified_at'), ref('excluded.verified_at')),
        verified_by: fn.coalesce(ref('domains.verified_by'), ref('excluded.verified_by')),
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch(refuseTaken(domain))
  await announceChange(tx.db)
  return toDomain(row)
}

/** @throws ServiceError 400 `local_domain` for a local domain of a service that others reach. */
export function isLocalHere(domain: string, publicUrl: string): boolean {
  if (!isLocalDomain(domain)) return false
  if (isLoopback(publicUrl)) return true
  const message = `${domain} is each visitor's own computer, so nobody can own it. It can be added only while the service itself runs on a local URL; this one runs on ${publicUrl}.`
  throw new ServiceError(400, 'local_domain', message)
}

/** Which hosts the tenant could add as domains: those that are neither added, themselves or above, nor refused. */
export async function hostsToAdd(tenant: Tenant, hosts: readonly string[], publicUrl: string): Promise<Set<string>> {
  const addable = [...new Set(hosts)].filter((host) => canBeAdded(host, publicUrl))
  if (addable.length === 0) return new Set()
  const rows = await tenant.db
    .selectFrom('domains')
    .select('domain')
    .where('domain', 'in', [...new Set(addable.flatMap(domainsOf))])
    .execute()
  const added = new Set(rows.map(({ domain }) => domain))
  return new Set(addable.filter((host) => !domainsOf(host).some((domain) => added.has(domain))))
}

function canBeAdded(host: string, publicUrl: string): boolean {
  try {
    isLocalHere(normalizeDomain(host), publicUrl)
    return true
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}

/** @throws ServiceError 404. */
export async function readDomain(tenant: Tenant, domainId: string): Promise<TenantDomain> {
  const row = await tenant.db.selectFrom('domains').selectAll().where('domain_id', '=', domainId).executeTakeFirst()
  if (!row) throw notFound('domain')
  return toDomain(row)
}

/** Marks a domain as verified. @throws ServiceError 404, or 409 `domain_taken`. */
export async function markVerified(tx: Tenant, domainId: string, proof: Proof, now: Date): Promise<TenantDomain> {
  const { domain } = await readDomain(tx, domainId)
  const row = await tx.db
    .updateTable('domains')
    .set({ verified_at: now, verified_by: proof })
    .where('domain_id', '=', domainId)
    .returningAll()
    .executeTakeFirst()
    .catch(refuseTaken(domain))
  if (!row) throw notFound('domain')
  await announceChange(tx.db)
  return toDomain(row)
}

function refuseTaken(domain: string) {
  return (error: { code?: string }): never => {
    if (error.code !== UNIQUE_VIOLATION) throw error
    const advice = isLocalDomain(domain)
      ? 'Use a name of your own, such as shop.localhost, or remove it there first.'
      : 'It must be removed there first.'
    throw conflict('domain_taken', `Another tenant has verified ${domain}. ${advice}`)
  }
}

/** @throws ServiceError 404. */
export async function removeDomain(tx: Tenant, domainId: string): Promise<TenantDomain> {
  const row = await tx.db.deleteFrom('domains').where('domain_id', '=', domainId).returningAll().executeTakeFirst()
  if (!row) throw notFound('domain')
  await announceChange(tx.db)
  return toDomain(row)
}

/** The names of domains, for the audit log. */
export function namesOfDomains({ db }: Tenant, ids: readonly string[]) {
  return namesIn(db.selectFrom('domains').select(['domain_id as id', 'domain as name']).where('domain_id', 'in', ids))
}

function toDomain(row: Selectable<TenantTables['domains']>): TenantDomain {
  return {
    domain_id: row.domain_id,
    domain: row.domain,
    ...placesOf(row.domain, row.txt_value),
    verified_at: row.verified_at?.toISOString() ?? null,
    verified_by: row.verified_by as Proof | null,
    created_at: row.created_at.toISOString(),
  }
}
