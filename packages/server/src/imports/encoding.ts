import iconv from 'iconv-lite'
import Type from 'typebox'

/** The encodings of DOS, in which Excel still saves, and of old Macs in Central Europe. `TextDecoder` lacks them. */
const NAMES_OF_ICONV = { ibm850: 'cp850', ibm437: 'cp437', ibm852: 'cp852', 'x-mac-ce': 'maccenteuro' }

/** The encodings of files, commonest first, by their names for `TextDecoder`. Those that it lacks have their names at IANA, or ours. */
export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'macintosh',
  'iso-8859-15',
  'ibm850',
  'ibm437',
  'windows-1250',
  'iso-8859-2',
  'ibm852',
  'x-mac-ce',
  'windows-1251',
  'koi8-r',
  'ibm866',
  'x-mac-cyrillic',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-1258',
  'windows-874',
  'shift_jis',
  'euc-jp',
  'iso-2022-jp',
  'gb18030',
  'big5',
  'euc-kr',
] as const

export const Encoding = Type.Enum([...ENCODINGS])
export type Encoding = Type.Static<typeof Encoding>

/** The encodings to guess from: they have no mark in the file, and bytes beyond ASCII. */
export const OLD_ENCODINGS: readonly Encoding[] = ENCODINGS.filter(
  (encoding) => !encoding.startsWith('utf-') && encoding !== 'iso-2022-jp',
)

/**
 * Stands for bytes that are not a character in the encoding. No file can contain it, and it cannot be stored, so only
 * the row that has it fails.
 */
export const UNDECODABLE = '\udfff'

/** The longest part of a character at the end of a chunk, in UTF-8. */
const TAIL_BYTES_MAX = 3

/** Decodes a file. Bytes that are not a character become `UNDECODABLE`. */
export async function* decoded(chunks: AsyncIterable<Buffer>, encoding: Encoding): AsyncGenerator<string> {
  yield* encoding === 'utf-8' ? decodedUtf8(chunks) : decodedOther(chunks, encoding)
}

/** Decodes bytes that are whole characters. Those that are no character become U+FFFD. */
export function decodeWhole(bytes: Buffer, encoding: Encoding): string {
  return isOfIconv(encoding) ? iconv.decode(bytes, NAMES_OF_ICONV[encoding]) : new TextDecoder(encoding).decode(bytes)
}

function isOfIconv(encoding: Encoding): encoding is keyof typeof NAMES_OF_ICONV {
  return Object.hasOwn(NAMES_OF_ICONV, encoding)
}

async function* decodedOther(chunks: AsyncIterable<Buffer>, encoding: Encoding): AsyncGenerator<string> {
  if (isOfIconv(encoding)) {
    // Each byte is a character.
    for await (const chunk of chunks) yield marked(decodeWhole(chunk, encoding))
    return
  }
  const decoder = new TextDecoder(encoding)
  for await (const chunk of chunks) yield marked(decoder.decode(chunk, { stream: true }))
  yield marked(decoder.decode())
}

function marked(text: string): string {
  return text.includes('\ufffd') ? text.replaceAll('\ufffd', UNDECODABLE) : text
}

/** A file in UTF-8 may contain the character U+FFFD itself, where another program has already lost a character. */
async function* decodedUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const decode = (bytes: Buffer): string => {
    try {
      return strict.decode(bytes)
    } catch {
      return bytes.toString('latin1').split('\xef\xbf\xbd').map(lenient).join('\ufffd')
    }
  }
  let rest: Buffer = Buffer.alloc(0)
  let isFirst = true
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = endOfCharacters(bytes)
    const text = decode(bytes.subarray(0, end))
    rest = Buffer.from(bytes.subarray(end))
    if (text === '') continue
    yield isFirst ? text.replace(/^\ufeff/, '') : text
    isFirst = false
  }
  if (rest.length > 0) yield decode(rest)
}

function lenient(bytes: string): string {
  return marked(new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1')))
}

/** Where the last character of a chunk ends that is complete in it. */
function endOfCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(TAIL_BYTES_MAX, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return back < length ? bytes.length - back : bytes.length
  }
  return bytes.length
}

export function isEncoding(name: string): name is Encoding {
  return (ENCODINGS as readonly string[]).includes(name)
}

/** Between cells: one character that cannot be part of a word or a quotation. */
const DELIMITER = String.raw`^[^A-Za-z0-9"'\r\n]$`
export const Delimiter = Type.String({
  pattern: DELIMITER,
  description: 'The character between cells, such as `;`.',
})

export function isDelimiter(text: string): boolean {
  return new RegExp(DELIMITER).test(text)
}
