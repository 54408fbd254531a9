import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

interface Prefix {
  ipv4: number
  ipv6: number
}

/** The network of one host. In IPv6 that is a /64, because the host can use all 2^64 addresses in it. */
export const HOST: Prefix = { ipv4: 32, ipv6: 64 }
/** The network that a provider assigns to one household or office. */
export const SITE: Prefix = { ipv4: 24, ipv6: 48 }

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\]):\d+$/

/**
 * The network of a client's address in CIDR notation. IPv4 written as IPv6 (mapped, or through NAT64) counts as IPv4.
 * @returns null if the text is not an address: a proxy can pass on any text.
 */
export function networkOf(address: string, prefix: Prefix): string | null {
  const parsed = parseAddress(address)
  if (parsed === null) return null
  return parsed instanceof ipaddr.IPv4
    ? `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed}/${prefix.ipv4}`)}/${prefix.ipv4}`
    : `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${prefix.ipv6}`)}/${prefix.ipv6}`
}

/** A client's address. IPv4 written as IPv6 is IPv4. @returns null if the text is not an address. */
export function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const [, ipv4, ipv6] = WITH_PORT.exec(address) ?? []
  const text = (ipv4 ?? ipv6 ?? address).replace(/%.*$/, '')
  return isIP(text) === 0 ? null : withoutTranslation(ipaddr.process(text))
}

function withoutTranslation(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  return address.range() === 'rfc6052' ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address
}
