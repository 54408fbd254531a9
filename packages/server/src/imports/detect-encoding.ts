import { isAscii } from 'node:buffer'
import { firstCharacters } from '../platform/characters.ts'
import { unusableFile } from './csv.ts'
import { decodeWhole, type Encoding, OLD_ENCODINGS } from './encoding.ts'
import { plausibility } from './plausible-text.ts'

/** The encoding of a file. @throws ServiceError 400 `invalid_file` if it is not text. */
export function requireText({ encoding, problem }: Detected, name: string): Encoding {
  if (encoding === null) throw unusableFile(name, problem ?? NOT_TEXT)
  return encoding
}

const NOT_TEXT = 'is not text. Save it as CSV in UTF-8'

/** What the bytes of a file show. */
export interface Detected {
  /** null if the file is not text. */
  encoding: Encoding | null
  /** Why the file is not text, as a sentence that says what to do. */
  problem?: string
  /**
   * How the first words that are not ASCII read in each encoding that fits, the likeliest first. Empty if all is ASCII.
   */
  readings: Reading[]
}

export interface Reading {
  encoding: Encoding
  words: string
}

const SAMPLE_BYTES = 4096
const WORD_BYTES_MAX = 400
const WORDS_SHOWN = 3
/** The likeliest encodings, between which the shown words decide. */
const COMPARED = 4
const SHOWN_LENGTH_MAX = 40
/** What older spreadsheets on Windows write. */
const COMMONEST = 'windows-1252'
/** A detector says something from 0 to 1. How the words read counts more; how common an encoding is decides between few words. */
const PLAUSIBILITY_WEIGHT = 4
const COMMONNESS: Partial<Record<Encoding, number>> = { [COMMONEST]: 0.4, ibm850: -0.3, ibm437: -0.4, ibm852: -0.2 }
/** Of less, a detector knows nothing. */
const BYTES_FOR_DETECTOR = 100
/** Enough to see a file's zero bytes and control characters. */
const HEAD_BYTES = 4096
/** Valid characters for each invalid byte in a UTF-8 file with few broken rows. Other encodings have next to none. */
const VALID_PER_INVALID = 3

/** Files of other kinds, by their first bytes. */
const OTHER_KINDS: readonly [bytes: string, advice: string][] = [
  ['504b0304', 'is a workbook or a zip archive. Open it in a spreadsheet, and save it as CSV in UTF-8'],
  ['d0cf11e0', 'is an old Excel workbook. Open it in a spreadsheet, and save it as CSV in UTF-8'],
  ['25504446', 'is a PDF. Export the contacts as CSV in UTF-8'],
  ['1f8b', 'is compressed. Send it with Content-Encoding: gzip, or decompress it'],
  ['89504e47', 'is a picture. Export the contacts as CSV in UTF-8'],
]

/**
 * Finds the encoding of a file from its bytes, which are seen once. A byte order mark decides. A file that is valid
 * UTF-8, or nearly all of it, is UTF-8. For any other, a detector and the plausibility of the words that are not ASCII
 * decide.
 */
export function detectEncoding(): { see(chunk: Buffer): void; end(): Promise<Detected> } {
  const strict = new TextDecoder('utf-8', { fatal: true })
  const counting = new TextDecoder('utf-8')
  const words: Buffer[] = []
  const known = new Set<string>()
  let head: Buffer = Buffer.alloc(0)
  let rest: Buffer = Buffer.alloc(0)
  let isUtf8 = true
  let valid = 0
  let invalid = 0
  let wordBytes = 0
  /** Words may continue in the next chunk: cut ones would look like broken characters. */
  const addWords = (bytes: Buffer, isEnd: boolean) => {
    const end = isEnd ? bytes.length : bytes.findLastIndex(isBreak) + 1
    rest = bytes.length - end > WORD_BYTES_MAX ? Buffer.alloc(0) : Buffer.from(bytes.subarray(end))
    for (const word of wordsOf(bytes.subarray(0, end))) {
      if (wordBytes >= SAMPLE_BYTES) return
      const plain = word.toString('latin1')
      if (known.has(plain)) continue
      known.add(plain)
      wordBytes += word.length
      words.push(word)
    }
  }
  return {
    see: (chunk) => {
      if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)])
      if (markOf(head) !== null) return
      if (isUtf8) isUtf8 = isValid(() => strict.decode(chunk, { stream: true }))
      const text = counting.decode(chunk, { stream: true })
      const isPlain = text.length === chunk.length && !text.includes('\ufffd')
      if (!isPlain) {
        const lost = count(text, '\ufffd')
        // Where another program has lost a character, the file is valid nevertheless.
        if (lost > 0) invalid += Math.max(0, lost - count(chunk.toString('latin1'), '\xef\xbf\xbd'))
        valid += text.match(/\P{ASCII}/gu)?.length ?? 0
        valid -= lost
      }
      // A chunk of ASCII too may begin or end within a word.
      if (wordBytes < SAMPLE_BYTES) addWords(Buffer.concat([rest, chunk]), false)
    },
    end: async () => {
      const marked = markOf(head) ?? unmarkedUtf16(head) ?? (head.includes(JAPANESE_MAIL) ? 'iso-2022-jp' : null)
      if (marked !== null) return { encoding: marked, readings: [] }
      const problem = problemOf(head)
      if (problem !== null) return { encoding: null, problem, readings: [] }
      isUtf8 &&= isValid(() => strict.decode())
      if (wordBytes < SAMPLE_BYTES) addWords(rest, true)
      if (words.length === 0) return { encoding: isUtf8 ? 'utf-8' : COMMONEST, readings: [] }
      const readings = await readingsOf(words)
      if (!isUtf8 && valid < VALID_PER_INVALID * invalid) {
        const encoding = readings[0]?.encoding ?? COMMONEST
        return { encoding, readings }
      }
      const utf8: Reading = { encoding: 'utf-8', words: shownWords(words, 'utf-8') }
      return { encoding: 'utf-8', readings: [utf8, ...readings] }
    },
  }
}

/** Switches to Kanji in ISO-2022-JP, whose other bytes are ASCII. */
const JAPANESE_MAIL = '\x1b$B'

function markOf(bytes: Buffer): Encoding | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null
}

/** Without a mark, every second byte of most texts is zero. */
function unmarkedUtf16(head: Buffer): Encoding | null {
  const zeros = [0, 0]
  for (const [index, byte] of head.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const many = head.length * 0.3
  if (odd > many && even < odd / 10) return 'utf-16le'
  return even > many && odd < even / 10 ? 'utf-16be' : null
}

function problemOf(head: Buffer): string | null {
  const start = head.toString('hex', 0, 4)
  const kind = OTHER_KINDS.find(([bytes]) => start.startsWith(bytes))
  if (kind) return kind[1]
  const controls = head.reduce(
    (sum, byte) => sum + (byte < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d].includes(byte) ? 1 : 0),
    0,
  )
  // One NUL fails its row only.
  return controls > 1 + head.length / 20 ? NOT_TEXT : null
}

/** No encoding has these bytes as a part of another character. */
const BREAKS = [0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x3b]
const isBreak = (byte: number) => BREAKS.includes(byte)

/** The words with a byte beyond ASCII. Those that are very long, which are no words, are left out. */
function* wordsOf(bytes: Buffer): Generator<Buffer> {
  // Ten times as fast as the search below, for most chunks of most files.
  if (isAscii(bytes)) return
  for (let at = 0; at < bytes.length; at++) {
    if ((bytes[at] ?? 0) < 0x80) continue
    let start = at
    while (start > 0 && !isBreak(bytes[start - 1] ?? 0) && at - start < WORD_BYTES_MAX) start--
    let end = at
    while (end < bytes.length && !isBreak(bytes[end] ?? 0)) end++
    if (end - start <= WORD_BYTES_MAX) yield Buffer.from(bytes.subarray(start, end))
    at = end
  }
}

/** The words in each encoding in which they are text, the likeliest first. */
async function readingsOf(words: readonly Buffer[]): Promise<Reading[]> {
  const { detectAll } = await import('jschardet')
  const bytes = Buffer.concat(words.flatMap((word) => [word, Buffer.from(' ')]))
  const guesses = new Map<Encoding, number>()
  for (const { encoding, confidence } of detectAll(bytes, { minimumThreshold: 0 })) {
    const known = decoderOf(encoding)
    if (known) guesses.set(known, Math.max(guesses.get(known) ?? 0, confidence))
  }
  const highest = Math.max(...guesses.values(), 0.01)
  const scored = OLD_ENCODINGS.flatMap((encoding) => {
    const text = decodeWhole(bytes, encoding)
    if (text.includes('\ufffd')) return []
    const guess = ((guesses.get(encoding) ?? 0) / highest) * Math.min(1, bytes.length / BYTES_FOR_DETECTOR)
    const score = plausibility(text) * PLAUSIBILITY_WEIGHT + guess + (COMMONNESS[encoding] ?? 0) / words.length
    return { encoding, text, score }
  })
  // Of encodings in which the words are the same, the commonest one stands for all.
  const different = [...Map.groupBy(scored, ({ text }) => text).values()].flatMap(([first, ...same]) =>
    first ? { ...first, score: Math.max(first.score, ...same.map(({ score }) => score)) } : [],
  )
  const ranked = different.sort((a, b) => b.score - a.score).map(({ encoding }) => encoding)
  const telling = tellingFirst(words, ranked.slice(0, COMPARED))
  return ranked.map((encoding) => ({ encoding, words: shownWords(telling, encoding) }))
}

/** The words, first those that read differently in the likeliest encodings. */
function tellingFirst(words: readonly Buffer[], encodings: readonly Encoding[]): Buffer[] {
  const counted = words.map((word) => ({ word, count: new Set(encodings.map((each) => decodeWhole(word, each))).size }))
  return counted.sort((a, b) => b.count - a.count).map(({ word }) => word)
}

/** Names of the detector that `TextDecoder` does not know. */
const OTHER_NAMES = new Map([
  ['MacRoman', 'macintosh'],
  ['MacCyrillic', 'x-mac-cyrillic'],
  ['CP932', 'shift_jis'],
  ['CP949', 'euc-kr'],
  ['CP874', 'windows-874'],
])

/** The encoding of `TextDecoder` for a detector's name. */
function decoderOf(name: string | null): Encoding | undefined {
  try {
    const { encoding } = new TextDecoder(OTHER_NAMES.get(name ?? '') ?? name ?? '')
    return OLD_ENCODINGS.find((each) => each === encoding)
  } catch {
    return undefined
  }
}

/** Shows the first different words. */
function shownWords(words: readonly Buffer[], encoding: Encoding): string {
  const texts = new Set<string>()
  for (const word of words) {
    const text = decodeWhole(word, encoding).replace(/\p{Cc}/gu, '�')
    texts.add(firstCharacters(text.trim(), SHOWN_LENGTH_MAX))
    if (texts.size === WORDS_SHOWN) break
  }
  return [...texts].join(', ')
}

function count(text: string, part: string): number {
  return text.split(part).length - 1
}

function isValid(decode: () => unknown): boolean {
  try {
    decode()
    return true
  } catch {
    return false
  }
}
