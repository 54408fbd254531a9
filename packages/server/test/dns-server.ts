import { createSocket } from 'node:dgram'
import { type LookupAddress, promises } from 'node:dns'
import { once } from 'node:events'
import type { Resolve } from '../src/platform/outbound/resolve.ts'

const TYPE_A = 1
const TYPE_AAAA = 28
const TYPE_TXT = 16
const NAME_ERROR = 3

export interface DnsServer {
  /** Names and their addresses; a function returns the addresses for each query. */
  zone: Map<string, string[] | (() => string[])>
  /** Names and their TXT records. */
  texts: Map<string, string[]>
  /** Its address, for a resolver. */
  server: string
  /** The number of queries for each name. */
  queries: Map<string, number>
  /** Resolves names with this server instead of the system's. */
  resolve: Resolve
  close(): void
}

/** A DNS server on a port of 127.0.0.1 that serves A and AAAA queries from its zone. */
export async function startDnsServer(): Promise<DnsServer> {
  const zone: DnsServer['zone'] = new Map()
  const texts: DnsServer['texts'] = new Map()
  const queries: DnsServer['queries'] = new Map()
  const socket = createSocket('udp4')
  socket.on('message', (query, sender) => {
    const { name, end } = readName(query)
    const type = query.readUInt16BE(end)
    if (type === TYPE_A) queries.set(name, (queries.get(name) ?? 0) + 1)
    const entry = zone.get(name) ?? (texts.has(name) ? [] : undefined)
    const all = typeof entry === 'function' ? entry() : (entry ?? [])
    const records =
      type === TYPE_TXT ? (texts.get(name) ?? []).map(textRecord) : all.flatMap((address) => recordOf(address, type))
    const header = Buffer.alloc(12)
    header.writeUInt16BE(query.readUInt16BE(0), 0)
    header.writeUInt16BE(0x8180 | (entry === undefined ? NAME_ERROR : 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    socket.send(Buffer.concat([header, query.subarray(12, end + 4), ...records]), sender.port, sender.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const server = `127.0.0.1:${socket.address().port}`
  const resolver = new promises.Resolver({ timeout: 30_000, tries: 1 })
  resolver.setServers([server])
  const found = async (family: 4 | 6, addresses: Promise<string[]>): Promise<LookupAddress[]> =>
    (await addresses.catch(() => [])).map((address) => ({ address, family }))
  return {
    zone,
    texts,
    server,
    queries,
    resolve: async (host) => {
      const addresses = await Promise.all([found(4, resolver.resolve4(host)), found(6, resolver.resolve6(host))])
      return addresses.flat()
    },
    close: () => socket.close(),
  }
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

/** The response's record, if the address has the requested type; its TTL is 0. */
function recordOf(address: string, type: number): Buffer[] {
  const isV6 = address.includes(':')
  if ((type === TYPE_AAAA) !== isV6 || (type !== TYPE_A && type !== TYPE_AAAA)) return []
  return [recordWith(type, isV6 ? v6Bytes(address) : Buffer.from(address.split('.').map(Number)))]
}

/** A text in parts of at most 255 bytes, as the format requires. */
function textRecord(text: string): Buffer {
  const bytes = Buffer.from(text)
  const parts: Buffer[] = []
  for (let from = 0; from < bytes.length || from === 0; from += 255) {
    const part = bytes.subarray(from, from + 255)
    parts.push(Buffer.from([part.length]), part)
  }
  return recordWith(TYPE_TXT, Buffer.concat(parts))
}

function recordWith(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

function v6Bytes(address: string): Buffer {
  const [left = '', right = ''] = address.split('::')
  const groups = (text: string) => text.split(':').filter((group) => group !== '')
  const [before, after] = [groups(left), groups(right)]
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex')
}
