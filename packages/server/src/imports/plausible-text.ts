/**
 * How much decoded words read like text. A detector needs sentences, but a file of contacts often has a few names, or a single
 * apostrophe: then only what people write decides.
 */

/** The letters beyond ASCII of languages in Latin script. What one language has in one word, a wrong encoding mixes. */
const ALPHABETS: readonly RegExp[] = [
  'äöüß', // German
  'éèêëàâçîïôùûœ', // French
  'áéíóúüñç', // Spanish, Catalan
  'ãçáéóíõêúâôà', // Portuguese
  'àèéìòù', // Italian
  'åäöéøæ', // Swedish, Finnish, Danish, Norwegian
  'éëïöü', // Dutch
  'áéíóúýþæöð', // Icelandic
  'ąćęłńóśźż', // Polish
  'áčďéěíňóřšťúůýžľĺäô', // Czech, Slovak
  'áéíóöőúüű', // Hungarian
  'čćšžđ', // Croatian, Slovenian
  'ăâîşţșț', // Romanian
  'çğıiöşüâ', // Turkish
  'ąčęėįšųūž', // Lithuanian
  'āčēģīķļņšūž', // Latvian
  'äöüõšž', // Estonian
].map((letters) => new RegExp(`[${letters}]`, 'iu'))

/** Letters of Western Europe, where most files in Latin script come from. */
const WESTERN = ALPHABETS.slice(0, 8)
/** Other text must be better by so many letters: a single word could often be of either. */
const OTHER_ALPHABET = 0.2
const OTHER_SCRIPT = 0.05
const RARE = /[îïìòùûœðþýõâ]/iu
const RARE_WEIGHT = 0.95

/** From 0, for signs between letters, to 1, for words of one language. */
export function plausibility(text: string): number {
  const characters = [...text]
  const beyond = characters.flatMap((character, index) => {
    if ((character.codePointAt(0) ?? 0) < 0x80) return []
    return { character, weight: plausible(characters, index) }
  })
  if (beyond.length === 0) return 0
  if (beyond.some(({ character }) => isLetter(character) && !isLatin(character))) {
    return (beyond.reduce((sum, { weight }) => sum + weight, 0) - OTHER_SCRIPT) / beyond.length
  }
  const scores = ALPHABETS.map((alphabet) => {
    const sum = beyond.reduce((total, { character, weight }) => {
      if (isLatin(character) && !alphabet.test(character)) return total + weight / 2
      return total + (RARE.test(character) ? weight * RARE_WEIGHT : weight)
    }, 0)
    return WESTERN.includes(alphabet) ? sum : sum - OTHER_ALPHABET
  })
  return Math.max(...scores) / beyond.length
}

const isLatin = (character: string) => /\p{Script=Latin}/u.test(character) && isLetter(character)
/** Ordinal signs are letters in Unicode, but no part of words. */
const isLetter = (character: string) => /\p{L}|\p{M}/u.test(character) && !/[ºª]/u.test(character)

function plausible(characters: readonly string[], index: number): number {
  const character = characters[index] ?? ''
  if (!isLetter(character)) return plausibleMark(characters, index)
  const before = characters[index - 1] ?? ' '
  const after = characters[index + 1] ?? ' '
  return plausibleLetter(character, before, after, () => wordAround(characters, index))
}

/** A letter stands beside letters of its own script, and is a capital only where a word begins, or among capitals. */
function plausibleLetter(character: string, before: string, after: string, word: () => string): number {
  const neighbors = [before, after].filter((each) => /\p{L}/u.test(each))
  if (neighbors.some((each) => scriptOf(each) !== scriptOf(character))) {
    // Chinese characters in a Korean word are rare, but not impossible.
    return neighbors.every((each) => EASTERN.includes(scriptOf(each))) && EASTERN.includes(scriptOf(character))
      ? 0.5
      : 0
  }
  // Half-width kana are what single bytes look like in Shift_JIS.
  if (/[\uff61-\uff9f]/.test(character)) return 0.2
  if (scriptOf(character) === 'chinese') return 1
  if (neighbors.length === 0) return /\p{Nd}/u.test(before) || /\p{Nd}/u.test(after) ? 0 : 0.3
  if (/\p{Lu}/u.test(character)) return /\p{L}/u.test(before) && /\p{Ll}/u.test(word()) ? 0 : 1
  if (!/\p{Ll}/u.test(character)) return 1
  return /\p{Lu}/u.test(after) || /^\p{Lu}{2,}\p{Ll}/u.test(word()) ? 0 : 1
}

function wordAround(characters: readonly string[], index: number): string {
  let start = index
  while (/\p{L}/u.test(characters[start - 1] ?? ' ')) start--
  let end = index
  while (/\p{L}/u.test(characters[end] ?? ' ')) end++
  return characters.slice(start, end).join('')
}

const OPENING = /[“‘„‚«‹¿¡]/u
const CLOSING = /[”’»›]/u
const DASH = /[–—]/u
/** After a name. */
const OF_NAME = /[™®…]/u
/** Beside a number. */
const OF_NUMBER = /[€£¥°§±½¼¾²³%‰º]/u
const SEPARATE = /[•·§©–—€±…]/u

/** A mark stands where people type it. */
function plausibleMark(characters: readonly string[], index: number): number {
  const character = characters[index] ?? ''
  const before = characters[index - 1] ?? ' '
  const after = characters[index + 1] ?? ' '
  const isAfter = (pattern: RegExp) => pattern.test(before)
  const isBefore = (pattern: RegExp) => pattern.test(after)
  if (character === '\u00a0') return 0.8
  if (character === '’' && isAfter(/\p{L}/u) && isBefore(/\p{L}/u)) return plausibleApostrophe(characters, index)
  if (OPENING.test(character) && isAfter(/[\s("]/u) && isBefore(/[\p{L}\p{N}]/u)) return 0.97
  if (CLOSING.test(character) && isAfter(/[\p{L}\p{N}.!?]/u) && !isBefore(/\p{L}/u)) return 0.97
  if (OF_NAME.test(character) && isAfter(/\p{L}/u) && !isBefore(/\p{L}/u)) return 0.97
  if (OF_NUMBER.test(character) && (isAfter(/\p{Nd}/u) || isBefore(/\p{Nd}/u))) return 0.97
  if (DASH.test(character) && isAfter(/[\p{L}\p{N}]/u) && isBefore(/[\p{L}\p{N}]/u)) return 0.8
  if (SEPARATE.test(character) && isAfter(/\s/u) && isBefore(/\s/u)) return 0.97
  if (/[ºª]/u.test(character) && isAfter(/[Nn]/u) && !isBefore(/\p{L}/u)) return 0.97
  return 0
}

/** As in O’Brien, L’Oréal and Bob’s. */
function plausibleApostrophe(characters: readonly string[], index: number): number {
  const rest = characters.slice(index + 1, index + 4).join('')
  const isPrefix = !/\p{L}/u.test(characters[index - 2] ?? ' ') || !/\p{L}/u.test(characters[index - 3] ?? ' ')
  return isPrefix || /^\p{Lu}/u.test(rest) || /^(s|t|d|m|ll|re|ve)(\P{L}|$)/u.test(rest) ? 0.97 : 0.3
}

const EASTERN = ['chinese', 'korean']

function scriptOf(character: string): string {
  if (/\p{Script=Latin}/u.test(character)) return 'latin'
  if (/\p{Script=Cyrillic}/u.test(character)) return 'cyrillic'
  if (/\p{Script=Greek}/u.test(character)) return 'greek'
  if (/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|ー/u.test(character)) return 'chinese'
  if (/\p{Script=Hangul}/u.test(character)) return 'korean'
  return 'other'
}
