import { writeFile } from 'node:fs/promises'

/** Writes a table of addresses in MaxMind's format, for IPv4: `{ '192.0.2.0/24': row }`. */
export async function writeMmdb(file: string, networks: Readonly<Record<string, object>>): Promise<void> {
  const tree: [Child, Child][] = [[null, null]]
  for (const [network, row] of Object.entries(networks)) addNetwork(tree, network, row)
  const rows = Buffer.concat(Object.values(networks).map(encode))
  const offsets = offsetsOf(Object.values(networks))
  const search = Buffer.alloc(tree.length * 6)
  for (const [index, node] of tree.entries()) {
    for (const [side, child] of node.entries()) {
      const value =
        child === null ? tree.length : typeof child === 'number' ? child : tree.length + 16 + (offsets.get(child) ?? 0)
      search.writeUIntBE(value, index * 6 + side * 3, 3)
    }
  }
  const metadata = {
    node_count: tree.length,
    record_size: 24,
    ip_version: 4,
    database_type: 'Test',
    languages: ['en'],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    description: {},
  }
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
  await writeFile(file, Buffer.concat([search, Buffer.alloc(16), rows, marker, encode(metadata)]))
}

/** A node's number, a row, or nothing. */
type Child = number | object | null

function addNetwork(tree: [Child, Child][], network: string, row: object): void {
  const [address = '', prefix] = network.split('/')
  const bits = address
    .split('.')
    .map((byte) => Number(byte).toString(2).padStart(8, '0'))
    .join('')
    .slice(0, Number(prefix))
  let node = tree[0]
  for (const [index, bit] of [...bits].entries()) {
    if (!node) throw new Error(`${network} is within another network.`)
    const side = Number(bit)
    if (index === bits.length - 1) node[side] = row
    else {
      if (node[side] === null) node[side] = tree.push([null, null]) - 1
      node = tree[node[side] as number]
    }
  }
}

function offsetsOf(rows: readonly object[]): Map<object, number> {
  const offsets = new Map<object, number>()
  let end = 0
  for (const row of rows) {
    offsets.set(row, end)
    end += encode(row).length
  }
  return offsets
}

const TYPES = { text: 2, number: 6, map: 7, array: 11 } as const

function encode(value: unknown): Buffer {
  if (typeof value === 'string')
    return Buffer.concat([header(TYPES.text, Buffer.byteLength(value)), Buffer.from(value)])
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([header(TYPES.number, 4), bytes])
  }
  if (Array.isArray(value)) return Buffer.concat([header(TYPES.array, value.length), ...value.map(encode)])
  const entries = Object.entries(value as object)
  return Buffer.concat([header(TYPES.map, entries.length), ...entries.flat().map(encode)])
}

function header(type: number, size: number): Buffer {
  if (size > 28) throw new Error('Longer values are not needed here.')
  return type > 7 ? Buffer.from([size, type - 7]) : Buffer.from([(type << 5) | size])
}
