import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** A host on IPv6 has a /64 at least. */
const NETWORK_BYTES = 8
/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\]):\d+$/

/**
 * The network that an address is counted by: an IPv4 address by itself, an IPv6 address by its /64, because one host can
 * use all 2^64 addresses in it. IPv4 written as IPv6 (mapped, or through NAT64) counts as IPv4. What is no address at all
 * shares one network, so that nobody gets a fresh count by making one up.
 */
export function networkOf(address: string): string {
  const [, ipv4, ipv6] = WITH_PORT.exec(address) ?? []
  const text = ipv4 ?? ipv6 ?? address
  if (isIP(text) === 0) return 'unknown'
  const parsed = ipaddr.process(text)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const bytes = parsed.toByteArray()
  if (parsed.range() === 'rfc6052') return bytes.slice(12).join('.')
  return `${Buffer.from(bytes.slice(0, NETWORK_BYTES)).toString('hex')}/${NETWORK_BYTES * 8}`
}
