import Type from 'typebox'

/** The encodings of uploaded files. */
export const Encoding = Type.Enum(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'])
export type Encoding = Type.Static<typeof Encoding>

/** Bytes that Windows-1252 leaves undefined; almost every non-text file has some. */
const UNDEFINED_BYTES = [0x81, 0x8d, 0x8f, 0x90, 0x9d]

/**
 * Finds the encoding of a file from its bytes: a byte order mark decides; else it is UTF-8 if all of it is valid UTF-8,
 * and Windows-1252 if not, because that is what older spreadsheets write.
 */
export function detectEncoding(): { see(chunk: Buffer): void; end(): Encoding | null } {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let first = Buffer.alloc(0)
  let isUtf8 = true
  let isText = true
  let isOneByte = true
  return {
    see: (chunk) => {
      if (first.length < 2) first = Buffer.concat([first, chunk.subarray(0, 2)])
      if (markOf(first) !== null) return
      isText &&= !chunk.includes(0)
      if (isUtf8) isUtf8 = isValid(() => utf8.decode(chunk, { stream: true }))
      // Checked on every chunk, because an earlier one may have been valid in both.
      isOneByte &&= UNDEFINED_BYTES.every((byte) => !chunk.includes(byte))
    },
    end: () => {
      const marked = markOf(first)
      if (marked !== null) return marked
      if (!isText) return null
      if (isUtf8 && isValid(() => utf8.decode())) return 'utf-8'
      return isOneByte ? 'windows-1252' : null
    },
  }
}

function markOf(bytes: Buffer): Encoding | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null
}

function isValid(decode: () => unknown): boolean {
  try {
    decode()
    return true
  } catch {
    return false
  }
}

/**
 * Decodes a file and encodes it in UTF-8.
 * @throws TypeError for bytes that are invalid in the encoding, because garbled names could go unnoticed, and for NUL.
 */
export async function* toUtf8(chunks: AsyncIterable<Buffer>, encoding: Encoding): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true })
    if (text.includes('\0')) throw new TypeError('a NUL character', { cause: NOT_TEXT })
    yield encoding === 'utf-8' ? chunk : Buffer.from(text)
  }
  decoder.decode()
}

/** Whether an error says that a file is not text in its encoding. */
export function isNotText(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: unknown }
  return code === 'ERR_ENCODING_INVALID_ENCODED_DATA' || cause === NOT_TEXT
}

const NOT_TEXT = Symbol('not text')
