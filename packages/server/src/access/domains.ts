import { randomBytes } from 'node:crypto'
import { domainToUnicode } from 'node:url'
import { parse } from 'tldts'
import { cached } from '../platform/cache.ts'
import { shown } from '../platform/characters.ts'
import { ServiceError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Proof } from './domain-proofs.ts'

/** Any number of tenants may add a domain, and each problem of its pages is stored for each of them. */
const TENANTS_MAX = 10

/** The row of a new domain, with an unguessable value that proves ownership. */
export function newDomainRow(domain: string, verifiedBy: Proof | null, now: Date) {
  const txtValue = `cds-verify=${randomBytes(18).toString('base64url')}`
  const verified = { verified_at: verifiedBy === null ? null : now, verified_by: verifiedBy }
  return { domain_id: newId(), domain, txt_value: txtValue, ...verified, created_at: now }
}

/**
 * Creates the lookup of the tenant that has verified a host or one of its parent domains; null if none has.
 * @param isLocal whether the service runs on a loopback URL. Otherwise, domains that were verified as local on a
 * developer's machine no longer count: they mean the machine of each visitor.
 */
export function createDomainLookup(
  database: Database,
  invalidation: Invalidation,
  { isLocal }: { isLocal: boolean },
): (host: string) => Promise<string | null> {
  return cached(invalidation, (host) => tenantOfHost(database, host, isLocal))
}

async function tenantOfHost(database: Database, host: string, isLocal: boolean): Promise<string | null> {
  const verified = database
    .selectFrom('domains')
    .select('tenant_id')
    .where('domain', 'in', domainsOf(host))
    .where('verified_at', 'is not', null)
  const row = await (isLocal ? verified : verified.where('verified_by', '!=', 'local'))
    // shop.example.com and example.com may belong to different tenants: the longest match wins.
    .orderBy(({ fn }) => fn('length', ['domain']), 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.tenant_id ?? null
}

/**
 * Finds the tenants that a refused page may belong to: at most `TENANTS_MAX` that added its host, a parent domain, or `www.`
 * before one, or else the only tenant of the service.
 */
export async function tenantsOfRefusedHost(database: Database, host: string): Promise<string[]> {
  const domains = domainsOf(host)
  // www.com is somebody else's site.
  const withWww = domains.filter((domain) => domain.includes('.') && !isPublicSuffix(domain))
  const adding = await database
    .selectFrom('domains')
    .select('tenant_id')
    .distinct()
    .where('domain', 'in', [...domains, ...withWww.map((domain) => `www.${domain}`)])
    .limit(TENANTS_MAX)
    .execute()
  if (adding.length > 0) return adding.map((row) => row.tenant_id)
  const tenants = await database.selectFrom('tenants').select('tenant_id').limit(2).execute()
  return tenants.length === 1 ? tenants.map((row) => row.tenant_id) : []
}

/** A host and its parent domains. */
export function domainsOf(host: string): string[] {
  const parts = host.split('.')
  return parts.map((_, index) => parts.slice(index).join('.'))
}

/**
 * Converts to lower case and punycode, without a trailing dot.
 * @throws ServiceError 400 for anything but a host name, and for a public suffix such as co.uk or github.io: whoever
 * verified it would own the events of every site below it.
 */
export function normalizeDomain(text: string): string {
  const trimmed = text.trim().replace(/\.$/, '')
  // The only IPv6 address that may be added. Browsers put it in brackets.
  if (trimmed === '::1' || trimmed === '[::1]') return '[::1]'
  const url = `http://${trimmed}`
  const host = /^[^\s/:@?#]+$/.test(trimmed) && URL.canParse(url) ? new URL(url).hostname : ''
  if (!/^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/.test(host)) {
    const message = `'${shown(trimmed)}' is not a domain. Use a host name like example.com, without scheme or path.`
    throw new ServiceError(400, 'invalid_domain', message)
  }
  if (isPublicSuffix(host)) {
    const message = `'${host}' is a public suffix: anyone can have a site below it. Add your own domain, like example.${host}.`
    throw new ServiceError(400, 'invalid_domain', message)
  }
  return host
}

/** Whether the public suffix list contains a host. It has neither localhost nor intranet names. */
function isPublicSuffix(host: string): boolean {
  // The list has some suffixes only in Unicode, not in punycode.
  const { hostname, publicSuffix, isIcann, isPrivate } = parse(domainToUnicode(host), { allowPrivateDomains: true })
  return hostname === publicSuffix && (isIcann === true || isPrivate === true)
}
