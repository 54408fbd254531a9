import ipaddr from 'ipaddr.js'

/** Ranges that ipaddr.js considers public, but that must not be called either. */
const ALSO_REFUSED: [range: string, kind: string][] = [
  ['3fff::/20', 'documentation'],
  ['2001:db8::/32', 'documentation'],
  ['2001:20::/28', 'reserved'],
  ['2001::/23', 'reserved'],
  // Deprecated IPv4-compatible addresses (::a.b.c.d) lead to the embedded IPv4 address.
  ['::/96', 'IPv4-compatible'],
  // Networks that translate IPv4 with a local prefix use these addresses (RFC 8215).
  ['64:ff9b::/32', 'NAT64'],
  ['5f00::/16', 'segment routing'],
]
/** A cloud metadata service whose address is in no special range. */
const METADATA = ['168.63.129.16', '100.100.100.200', '169.254.169.254', 'fd00:ec2::254', 'fd20:ce::254']

const PARSED_RANGES = ALSO_REFUSED.map(([range, kind]) => ({ range: ipaddr.parseCIDR(range), kind }))

/**
 * Why an address must not be called, in a word or two; null for an ordinary public one. This is an allow-list: only
 * public unicast addresses pass, so unknown ranges are rejected too.
 */
export function refusalOf(address: string): string | null {
  if (!ipaddr.isValid(address)) return 'not an IP address'
  if (METADATA.includes(address)) return 'metadata service'
  const parsed = ipaddr.parse(address)
  const range = parsed.range()
  if (range !== 'unicast') return range
  if (parsed.kind() === 'ipv6') {
    const known = PARSED_RANGES.find((each) => parsed.match(each.range))
    if (known) return known.kind
    // In IPv6, only 2000::/3 is allocated for public addresses.
    if (!parsed.match(ipaddr.parseCIDR('2000::/3'))) return 'reserved'
  }
  return null
}
