/** This compression is fast to write, and every reader supports it. */
export const PARQUET_FORMAT = `, output_format_parquet_compression_method = 'zstd',
  output_format_parquet_string_as_string = 1 FORMAT Parquet`

const MAGIC = 'PAR1'

interface Sent {
  stream: AsyncIterable<Uint8Array>
}

/** The end of a cut-off file, which has the server's error. */
const ERROR_BYTES = 2_000

/**
 * Reads a Parquet file whole. A server reports an error after the first bytes as text in the file, which then lacks its
 * end.
 */
export async function readParquet({ stream }: Sent, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > bytesMax) throw new Error(`The file is larger than ${bytesMax} bytes.`)
  }
  const file = Buffer.concat(chunks)
  const isWhole = file.subarray(0, 4).toString('latin1') === MAGIC && file.subarray(-4).toString('latin1') === MAGIC
  if (isWhole) return file
  const reason = file
    .subarray(-ERROR_BYTES)
    .toString('utf8')
    .replace(/[^\x20-\x7e]+/g, ' ')
  throw new Error(`ClickHouse did not finish a Parquet file: ${/Code: \d+.*/.exec(reason)?.[0] ?? 'it is cut off'}`)
}

/** The part of a SELECT that reads rows which the service sends, one JSON object per line in the parameter `rows`. */
export function sentRows(structure: string): string {
  return `format(JSONEachRow, '${structure}', {rows: String})`
}

/** The value types of Thrift's compact protocol, which a Parquet file's footer uses. */
const THRIFT = { true: 1, false: 2, byte: 3, double: 7, binary: 8, list: 9, set: 10, map: 11, struct: 12 }
const ROWS_FIELD = 3

/** The number of rows in a Parquet file, from the third field of its footer. */
export function rowsOfParquet(file: Buffer): number {
  const end = file.length - 8
  let at = end - file.readUInt32LE(end)
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = file.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const number = () => {
    const coded = varint()
    return (coded >> 1n) ^ -(coded & 1n)
  }
  const skip = (kind: number): void => {
    if (kind === THRIFT.true || kind === THRIFT.false) return
    if (kind === THRIFT.byte) at += 1
    else if (kind === THRIFT.double) at += 8
    else if (kind === THRIFT.binary) {
      const length = Number(varint())
      at += length
    } else if (kind === THRIFT.list || kind === THRIFT.set) skipList()
    else if (kind === THRIFT.struct) fields(() => false)
    else if (kind === THRIFT.map) throw new Error('The footer of a Parquet file has no maps.')
    else varint()
  }
  const skipList = () => {
    const head = file.readUInt8(at++)
    const count = head >> 4 === 15 ? Number(varint()) : head >> 4
    const kind = head & 15
    // Within lists, a Boolean has a byte.
    for (let n = 0; n < count; n++) skip(kind <= THRIFT.false ? THRIFT.byte : kind)
  }
  /** Reads the fields of a struct until `isWanted`. */
  const fields = (isWanted: (field: number) => boolean): void => {
    for (let field = 0; ; ) {
      const head = file.readUInt8(at++)
      if (head === 0) return
      field = head >> 4 === 0 ? Number(number()) : field + (head >> 4)
      if (isWanted(field)) return
      skip(head & 15)
    }
  }
  fields((field) => field === ROWS_FIELD)
  return Number(number())
}
