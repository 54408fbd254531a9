import { firstCharacters } from '../platform/characters.ts'
import { unusableFile } from './csv.ts'
import { type Encoding, OLD_ENCODINGS } from './encoding.ts'

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
      if (text.length === chunk.length && !text.includes('\ufffd')) {
        rest = Buffer.alloc(0)
        return
      }
      const lost = count(text, '\ufffd')
      // Where another program has lost a character, the file is valid nevertheless.
      if (lost > 0) invalid += Math.max(0, lost - count(chunk.toString('latin1'), '\xef\xbf\xbd'))
      valid += text.match(/\P{ASCII}/gu)?.length ?? 0
      valid -= lost
      if (wordBytes < SAMPLE_BYTES) addWords(Buffer.concat([rest, chunk]), false)
    },
    end: async () => {
      const marked = markOf(head) ?? unmarkedUtf16(head)
      if (marked !== null) return { encoding: marked, readings: [] }
      const problem = problemOf(head)
      if (problem !== null) return { encoding: null, problem, readings: [] }
      isUtf8 &&= isValid(() => strict.decode())
      if (wordBytes < SAMPLE_BYTES) addWords(rest, true)
      if (words.length === 0) return { encoding: isUtf8 ? 'utf-8' : 'windows-1252', readings: [] }
      const readings = await readingsOf(words)
      if (!isUtf8 && valid < VALID_PER_INVALID * invalid) {
        const encoding = readings[0]?.encoding ?? 'windows-1252'
        return { encoding, readings }
      }
      const utf8: Reading = { encoding: 'utf-8', words: shownWords(words, new TextDecoder('utf-8')) }
      return { encoding: 'utf-8', readings: [utf8, ...readings] }
    },
  }
}

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
    const decoder = new TextDecoder(encoding)
    const text = decoder.decode(bytes)
    if (text.includes('\ufffd')) return []
    const guess = (guesses.get(encoding) ?? 0) / highest
    return { encoding, text, score: plausibility(text) * 4 + guess }
  })
  // Of encodings in which the words are the same, the commonest one stands for all.
  const different = [...Map.groupBy(scored, ({ text }) => text).values()].flatMap(([first, ...same]) =>
    first ? { ...first, score: Math.max(first.score, ...same.map(({ score }) => score)) } : [],
  )
  const ranked = different.sort((a, b) => b.score - a.score).map(({ encoding }) => encoding)
  const telling = tellingFirst(words, ranked.slice(0, COMPARED))
  return ranked.map((encoding) => ({ encoding, words: shownWords(telling, new TextDecoder(encoding)) }))
}

/** The words, first those that read differently in the likeliest encodings. */
function tellingFirst(words: readonly Buffer[], encodings: readonly Encoding[]): Buffer[] {
  const decoders = encodings.map((encoding) => new TextDecoder(encoding))
  const counted = words.map((word) => ({ word, count: new Set(decoders.map((each) => each.decode(word))).size }))
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
function shownWords(words: readonly Buffer[], decoder: InstanceType<typeof TextDecoder>): string {
  const texts = new Set<string>()
  for (const word of words) {
    const text = decoder.decode(word).replace(/\p{Cc}/gu, '�')
    texts.add(firstCharacters(text.trim(), SHOWN_LENGTH_MAX))
    if (texts.size === WORDS_SHOWN) break
  }
  return [...texts].join(', ')
}

/** Punctuation that people type between or beside words. */
const USUAL_MARKS = /[«»‘’“”„–—…·¿¡º\u00a0]/u
/** Signs that stand beside numbers. */
const USUAL_SIGNS = /[€£§°]/u

/**
 * How much a text reads like words, from 0 to 1: a letter beyond ASCII stands beside letters of its own script, and is
 * a capital only where a word begins, or among capitals. Short texts give a detector little else.
 */
function plausibility(text: string): number {
  let sum = 0
  let count = 0
  const characters = [...text]
  for (const [index, character] of characters.entries()) {
    if ((character.codePointAt(0) ?? 0) < 0x80) continue
    count++
    sum += plausible(characters[index - 1] ?? ' ', character, characters[index + 1] ?? ' ')
  }
  return count === 0 ? 0 : sum / count
}

function plausible(before: string, character: string, after: string): number {
  const neighbors = [before, after].filter((each) => /\p{L}/u.test(each))
  if (!/\p{L}|\p{M}/u.test(character)) {
    return USUAL_MARKS.test(character) || (USUAL_SIGNS.test(character) && neighbors.length === 0) ? 0.6 : 0
  }
  if (neighbors.some((each) => scriptOf(each) !== scriptOf(character))) return 0
  const isCapital = /\p{Lu}/u.test(character)
  if (isCapital && /\p{Ll}/u.test(before)) return 0
  // Half-width kana are what single bytes look like in Shift_JIS.
  if (/[\uff61-\uff9f]/.test(character)) return 0.2
  if (isCapital && /\p{Ll}/u.test(after) && /\p{L}/u.test(before)) return 0.3
  return scriptOf(character) === 'latin' && !COMMON_LATIN.test(character) ? 0.7 : 1
}

/** Letters of the languages of Western Europe, which most Latin text is in. */
const COMMON_LATIN = /[àáâãäåæçèéêëìíîïñòóôõöøœùúûüß]/iu

function scriptOf(character: string): string {
  if (/\p{Script=Latin}/u.test(character)) return 'latin'
  if (/\p{Script=Cyrillic}/u.test(character)) return 'cyrillic'
  if (/\p{Script=Greek}/u.test(character)) return 'greek'
  if (/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|ー/u.test(character)) return 'east-asian'
  if (/\p{Script=Hangul}/u.test(character)) return 'hangul'
  return 'other'
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
