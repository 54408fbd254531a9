import { disposableEmailBlocklistSet } from 'disposable-email-domains-js'
import freeHosts from 'email-providers/all.json' with { type: 'json' }
import { parse } from 'tldts'
import type { Enricher } from './enricher.ts'

const FREE_HOSTS = new Set(freeHosts)
const DISPOSABLE_HOSTS = disposableEmailBlocklistSet()
/** Hosts of anybody's mail that the lists lack: forwarding services, and mail that people pay for. */
const FURTHER_HOSTS = new Set([
  'hey.com', 'fastmail.com', 'fastmail.fm', 'mozmail.com', 'appleid.com', 'simplelogin.com', 'simplelogin.co', 'aleeas.com', 'slmail.me', 'anonaddy.com',
  'anonaddy.me', 'addy.io', 'passmail.net', 'passmail.com', 'tuta.com', 'tuta.io', 'tutamail.com', 'tutanota.com',
  'tutanota.de', 'keemail.me', 'posteo.de', 'posteo.net', 'mailbox.org', 'pm.me', 'skiff.com', 'onmail.com', 'googlemail.com',
]) // biome-ignore format: a list
/** Reserved for documentation and tests (RFC 2606, RFC 6761): nobody has an address there. */
const RESERVED = /(^|\.)(example\.(com|net|org)|test|invalid|localhost|local|internal|arpa)$/

/** The company of a work address, by its domain. */
export const COMPANY: Enricher = {
  name: 'company',
  fills: ['company_id'],
  inputs: ({ contact }) => [contact.email],
  find({ contact: { email } }) {
    const domain = email === null ? null : workDomain(email)
    return domain === null ? null : { properties: {}, companyDomain: domain, raw: { domain } }
  },
}

/**
 * The domain of the company whose address this is; null if anybody can get an address there. Of `mail.acme.co.uk` it is
 * `acme.co.uk`. Sites below a shared suffix, such as `github.io`, are different owners'.
 */
export function workDomain(email: string): string | null {
  const host = email.slice(email.lastIndexOf('@') + 1)
  const { domain, isIp } = parse(host, { allowPrivateDomains: true })
  if (domain === null || isIp || RESERVED.test(host)) return null
  return [host, domain].some(isOpenToAnybody) ? null : domain
}

/** Whether anybody can get an address at a host, so that it says nothing of an employer. */
export function isOpenToAnybody(host: string): boolean {
  return FREE_HOSTS.has(host) || DISPOSABLE_HOSTS.has(host) || FURTHER_HOSTS.has(host)
}
