import { randomBytes } from 'node:crypto'
import { domainToUnicode } from 'node:url'
import { parse } from 'tldts'
import { cached } from '../platform/cache.ts'
import { conflict, ServiceError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import { announceChange } from '../platform/postgres/invalidation.ts'

/** The DNS name whose TXT record proves that a tenant owns a domain. */
const TXT_PREFIX = '_cds-verification'

/**
 * Adds a domain to a tenant as verified, without asking DNS: for the operator.
 * @throws ServiceError 400 if it is no host name or a public suffix, 409 `domain_taken` if another tenant has verified it.
 */
export async function addVerifiedDomain(
  database: Database,
  tenantId: string,
  host: string,
  now: Date,
): Promise<{ domain_id: string; domain: string }> {
  const domain = normalizeDomain(host)
  const holder = await holderOf(database, domain)
  if (holder !== null && holder !== tenantId) {
    throw conflict('domain_taken', `Another tenant has verified ${domain}. Remove it there first.`)
  }
  const added = await database
    .insertInto('domains')
    .values({ tenant_id: tenantId, ...newDomainRow(domain, now, now) })
    .onConflict((existing) =>
      existing.columns(['tenant_id', 'domain']).doUpdateSet(({ ref, fn }) => ({
        verified_at: fn.coalesce(ref('domains.verified_at'), ref('excluded.verified_at')),
      })),
    )
    .returning(['domain_id', 'domain'])
    .executeTakeFirstOrThrow()
  await announceChange(database)
  return added
}

/** What is stored of a new domain, with a record that nobody can guess. */
export function newDomainRow(domain: string, verifiedAt: Date | null, now: Date) {
  const txtValue = `cds-verify=${randomBytes(18).toString('base64url')}`
  return { domain_id: newId(), domain, txt_value: txtValue, verified_at: verifiedAt, created_at: now }
}

/** Where the TXT record of a domain stands. */
export function txtNameOf(domain: string): string {
  return `${TXT_PREFIX}.${domain}`
}

/** Makes the look-up from a host to the tenant that has verified it or a domain above it; null when none has. */
export function createDomainLookup(
  database: Database,
  invalidation: Invalidation,
): (host: string) => Promise<string | null> {
  return cached(invalidation, (host) => tenantOfHost(database, host))
}

async function tenantOfHost(database: Database, host: string): Promise<string | null> {
  const parts = host.split('.')
  const candidates = parts.map((_, index) => parts.slice(index).join('.'))
  const row = await database
    .selectFrom('domains')
    .select('tenant_id')
    .where('domain', 'in', candidates)
    .where('verified_at', 'is not', null)
    // shop.example.com may be another tenant's than example.com: the closest one is meant.
    .orderBy(({ fn }) => fn('length', ['domain']), 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.tenant_id ?? null
}

async function holderOf(database: Database, domain: string): Promise<string | null> {
  const row = await database
    .selectFrom('domains')
    .select('tenant_id')
    .where('domain', '=', domain)
    .where('verified_at', 'is not', null)
    .executeTakeFirst()
  return row?.tenant_id ?? null
}

/**
 * Lower case, punycode, no port, no trailing dot.
 * @throws ServiceError 400 for what is no host name, and for a public suffix such as co.uk or github.io: its verifier
 * would own what the pages of everybody below it send.
 */
export function normalizeDomain(text: string): string {
  const trimmed = text.trim().replace(/\.$/, '')
  const url = `http://${trimmed}`
  const host = /^[^\s/:@?#]+$/.test(trimmed) && URL.canParse(url) ? new URL(url).hostname : ''
  if (!/^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/.test(host)) {
    const message = `'${trimmed.slice(0, 100)}' is not a domain. Give a host name like example.com, without scheme or path.`
    throw new ServiceError(400, 'invalid_domain', message)
  }
  if (isPublicSuffix(host)) {
    const message = `'${host}' is a public suffix: anybody can have a site below it. Add a domain of your own, like example.${host}.`
    throw new ServiceError(400, 'invalid_domain', message)
  }
  return host
}

/** Whether the public suffix list names a host. It has no localhost and no names of an intranet. */
function isPublicSuffix(host: string): boolean {
  // The list has some suffixes only in the letters of their language.
  const { hostname, publicSuffix, isIcann, isPrivate } = parse(domainToUnicode(host), { allowPrivateDomains: true })
  return hostname === publicSuffix && (isIcann === true || isPrivate === true)
}
