import ipaddr from 'ipaddr.js'

/** What a provider gives to one household or office; whoever changes address within it is in the same place. */
const IPV4_BYTES = 3
const IPV6_BYTES = 6

/** The /24 of an IPv4 address, the /48 of an IPv6 address; null for what is no address. */
export function networkOf(address: string): string | null {
  if (!ipaddr.isValid(address)) return null
  // An IPv4 address that reached an IPv6 socket is an IPv4 address.
  const parsed = ipaddr.process(address)
  const bytes = parsed.toByteArray().slice(0, parsed.kind() === 'ipv4' ? IPV4_BYTES : IPV6_BYTES)
  return bytes.join('.')
}
