import { isNickname } from './nicknames.ts'

/** A person's name, folded: without accents, case and punctuation. Empty parts are unknown. */
export interface PersonName {
  first: string
  last: string
  /** `jr`, `sr`, `ii` …: tells a father from a son. */
  generation: string
}

/**
 * How two names compare. `partial`: they agree as far as both are known, such as in an initial. `unknown`: nothing can be
 * compared.
 */
export type NameMatch = 'same' | 'similar' | 'partial' | 'unknown' | 'different'

const GENERATION = /^(jr|junior|sr|senior|ii|iii|iv)$/
/** One other letter makes another name of a short one: Jan and Jana, Hansen and Jansen. */
const FIRST_LENGTH_MIN = 6
const LAST_LENGTH_MIN = 6
/** The last letters of a first name often say whether it is a woman's or a man's: Martin and Martina, Andrea and Andreas. */
const ENDING = 2

/** A text without accents, case and punctuation, its words separated by spaces. */
export function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/['’`.]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** @param whole a name in one piece, for contacts without a first and a last name. */
export function parseName(first: string, last: string, whole = ''): PersonName {
  const [firsts, lasts, wholes] = [first, last, whole].map((part) => folded(part).split(' ').filter(Boolean)) as [
    string[],
    string[],
    string[],
  ]
  const words = firsts.length + lasts.length > 0 ? [...firsts, ...lasts] : wholes
  const isPlain = (word: string) => !GENERATION.test(word)
  const known = words.filter(isPlain)
  // Of a name in one piece, the last word is the last name.
  const ownFirsts = words === wholes ? known.slice(0, Math.max(1, known.length - 1)) : firsts.filter(isPlain)
  const ownLasts = words === wholes ? known.slice(ownFirsts.length) : lasts.filter(isPlain)
  return {
    first: ownFirsts.join(' '),
    last: ownLasts.join(' '),
    generation: (words.find((word) => GENERATION.test(word)) ?? '').replace('junior', 'jr').replace('senior', 'sr'),
  }
}

export function compareNames(a: PersonName, b: PersonName): NameMatch {
  if (a.generation !== b.generation && a.first !== '' && b.first !== '') return 'different'
  const [first, last] = [compareFirst(a.first, b.first), compareLast(a.last, b.last)]
  if (first === 'different' || last === 'different') return 'different'
  if (first === 'unknown' && last === 'unknown') return 'unknown'
  if (first === 'unknown' || last === 'unknown' || first === 'partial') return 'partial'
  if (first === 'same' && last === 'same') return 'same'
  // Two typos at once are two people.
  return first === 'similar' && last === 'similar' ? 'different' : 'similar'
}

function compareFirst(a: string, b: string): NameMatch {
  if (a === '' || b === '') return 'unknown'
  if (a === b) return 'same'
  const [ofA, ofB] = [a.split(' '), b.split(' ')]
  const [firstOfA = '', firstOfB = ''] = [ofA[0], ofB[0]]
  // A middle name that only one has: Mary and Mary Ann; but Mary Ann and Mary Jane are two.
  if (ofA.length > 1 && ofB.length > 1) {
    return firstOfA === firstOfB && startsEqual(ofA[1] ?? '', ofB[1] ?? '') ? 'same' : 'different'
  }
  if (firstOfA === firstOfB) return 'same'
  if (firstOfA.length === 1 || firstOfB.length === 1) return firstOfA[0] === firstOfB[0] ? 'partial' : 'different'
  if (isNickname(firstOfA, firstOfB)) return 'similar'
  const isTypo =
    firstOfA[0] === firstOfB[0] &&
    Math.min(firstOfA.length, firstOfB.length) >= FIRST_LENGTH_MIN &&
    firstOfA.slice(-ENDING) === firstOfB.slice(-ENDING) &&
    isOneEdit(firstOfA, firstOfB)
  return isTypo ? 'similar' : 'different'
}

function startsEqual(a: string, b: string): boolean {
  return a === b || ((a.length === 1 || b.length === 1) && a[0] === b[0])
}

function compareLast(a: string, b: string): NameMatch {
  if (a === '' || b === '') return 'unknown'
  if (a === b) return 'same'
  const isTypo = a[0] === b[0] && Math.min(a.length, b.length) >= LAST_LENGTH_MIN && isOneEdit(a, b)
  return isTypo ? 'similar' : 'different'
}

/** Whether one letter that is added, left out or replaced, or two that change places, make one text of the other. */
export function isOneEdit(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  let at = 0
  while (at < short.length && short[at] === long[at]) at++
  if (long.length - short.length === 1) return short.slice(at) === long.slice(at + 1)
  if (long.length !== short.length || at === short.length) return false
  if (short.slice(at + 1) === long.slice(at + 1)) return true
  return short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2)
}
