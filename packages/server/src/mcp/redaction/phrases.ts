import type { Kind } from '../../platform/personal.ts'
import { fold, outsideRedacted, WORD, wordsOf } from './pseudonyms.ts'
import { isDistinctive, isName, mayStandAlone, ROLE_ADDRESSES, UNSPACED } from './words.ts'

/** A value that was found under a personal name in the output, whoever it belongs to. */
export interface FoundValue {
  kind: Kind
  value: string
}

/** Whose value is added: a contact's, or a stranger's in an item. */
type Whose = { id: string } | { item: string }

/** A sequence of words that stands for a person. */
export interface Phrase {
  /** Whose value it is, by contact. */
  values: Map<string, FoundValue>
  /** Strangers' values, by the item that has them. They change only texts of that item: anyone can send any name. */
  strangers: Map<string, FoundValue>
  /** If set, only this spelling counts: two letters in lower case are too often another word. */
  spelling: string | null
  /** A name of several words. It is replaced in names of companies too. */
  isFullName: boolean
}

interface Token {
  raw: string
  word: string
  start: number
  end: number
}

/** The pseudonym of a phrase in a text; null if it means nobody there. */
type PseudonymOf = (phrase: Phrase) => string | null

/** Phrases to look for in texts. */
export interface Phrases {
  /** Adds a value, and the words in it that name its owner alone. */
  add(value: FoundValue, whose: Whose): void
  addFullName(given: string, family: string, whose: Whose): void
  /** @param onlyFullNames leaves single words */
  replaceIn(text: string, onlyFullNames: boolean, pseudonymOf: PseudonymOf): string
}

/** Values of more words are not looked for. */
const WORDS_MAX = 30
/** Between two words of a value: ` `, `.`, `-`, `_`, `, `, `://`. */
const GAP_LENGTH_MAX = 3
export function createPhrases(): Phrases {
  /** The numbers of words of the phrases that start with a word, most first. */
  const lengths = new Map<string, number[]>()
  const unspaced = new Map<string, Phrase>()
  const byWords = new Map<string, Phrase>()
  let pattern: RegExp | null | undefined

  function add({ kind, value }: FoundValue, whose: Whose): void {
    const words = wordsOf(value)
    if (kind === 'email') addAddress(value, whose)
    if (kind === 'email' || kind === 'phone' || words.length === 0 || words.length > WORDS_MAX) return
    addPhrase(words, { kind, value }, whose)
    if (kind === 'url') addProfile(value, whose)
    if (kind !== 'firstname' && kind !== 'lastname' && kind !== 'name') return
    for (const [word] of value.matchAll(WORD)) addPhrase([fold(word)], { kind, value: word }, whose, word)
  }

  /** `ada.lovelace` of `ada.lovelace@example.com` names the person too. */
  function addAddress(address: string, whose: Whose): void {
    const local = address.slice(0, address.lastIndexOf('@')).split('+')[0] ?? ''
    if (local.length < 4 || ROLE_ADDRESSES.has(local.toLowerCase())) return
    addPhrase(wordsOf(local), { kind: 'username', value: local }, whose)
  }

  /** The end of a profile's URL, which is a name in the network. */
  function addProfile(url: string, whose: Whose): void {
    const path = url.replace(/[?#].*$/s, '').replace(/\/+$/, '')
    addPhrase(wordsOf(path.replace(/^[a-z]+:\/\/(www\.)?/i, '')), { kind: 'url', value: url }, whose)
    const end = path.slice(path.lastIndexOf('/') + 1)
    if (end !== path && end.length >= 4) addPhrase(wordsOf(end), { kind: 'url', value: url }, whose)
  }

  function addFullName(given: string, family: string, whose: Whose): void {
    const [first, last] = [wordsOf(given), wordsOf(family)]
    if (first.length === 0 || last.length === 0 || first.length + last.length > WORDS_MAX) return
    const value = { kind: 'name' as const, value: `${given} ${family}` }
    addPhrase([...first, ...last], value, whose)
    addPhrase([...last, ...first], value, whose)
    const [one, other] = [first.join(''), last.join('')]
    for (const joined of [one + other, other + one, (one[0] ?? '') + other]) {
      if (joined.length >= 5) addPhrase([joined], value, whose)
    }
  }

  function addPhrase(words: readonly string[], value: FoundValue, whose: Whose, word?: string): void {
    const [start] = words
    if (start === undefined) return
    const isAlone = word === undefined ? isDistinctive(words) : mayStandAlone(word)
    if (isAlone === false) return
    const text = words.join(' ')
    const spelling = isAlone === 'as-spelled' ? (word ?? null) : null
    const known = byWords.get(text)
    const isFullName = words.length > 1 && isName(value.kind)
    const phrase = known ?? { values: new Map(), strangers: new Map(), spelling, isFullName }
    if ('item' in whose) phrase.strangers.set(whose.item, value)
    else if (!phrase.values.has(whose.id)) phrase.values.set(whose.id, value)
    phrase.isFullName ||= isFullName
    if (spelling === null) phrase.spelling = null
    if (known) return
    byWords.set(text, phrase)
    if (UNSPACED.test(text)) unspaced.set(words.join(''), phrase)
    const ofStart = lengths.get(start) ?? []
    if (!ofStart.includes(words.length))
      lengths.set(
        start,
        [...ofStart, words.length].sort((one, other) => other - one),
      )
  }

  function replaceWords(text: string, onlyFullNames: boolean, pseudonymOf: PseudonymOf): string {
    if (byWords.size === 0) return text
    const tokens = [...text.matchAll(WORD)].map((match) => ({
      raw: match[0],
      word: fold(match[0]),
      start: match.index,
      end: match.index + match[0].length,
    }))
    let [result, copied, at] = ['', 0, 0]
    while (at < tokens.length) {
      const found = phraseAt(tokens, at, onlyFullNames, pseudonymOf)
      if (found === null) {
        at++
        continue
      }
      result += text.slice(copied, tokens[at]?.start) + found.pseudonym
      at += found.length
      copied = tokens[at - 1]?.end ?? text.length
    }
    return result + text.slice(copied)
  }

  /** The longest phrase that starts at a word. */
  function phraseAt(tokens: readonly Token[], at: number, onlyFullNames: boolean, pseudonymOf: PseudonymOf) {
    const first = tokens[at]
    for (const length of lengths.get(first?.word ?? '') ?? []) {
      const run = tokens.slice(at, at + length)
      const isConnected = run.every(
        ({ start }, index) => index === 0 || start - (run[index - 1]?.end ?? 0) <= GAP_LENGTH_MAX,
      )
      const phrase =
        run.length === length && isConnected ? byWords.get(run.map(({ word }) => word).join(' ')) : undefined
      if (phrase === undefined || (onlyFullNames && !phrase.isFullName)) continue
      if (phrase.spelling !== null && phrase.spelling !== first?.raw) continue
      const pseudonym = pseudonymOf(phrase)
      if (pseudonym !== null) return { pseudonym, length }
    }
    return null
  }

  function replaceUnspaced(text: string, pseudonymOf: PseudonymOf): string {
    pattern ??= patternOf([...unspaced.keys()])
    if (pattern === null || !UNSPACED.test(text)) return text
    return text.replace(pattern, (match) => {
      const phrase = unspaced.get(fold(match))
      return (phrase && pseudonymOf(phrase)) ?? match
    })
  }

  return {
    add,
    addFullName,
    replaceIn: (text, onlyFullNames, pseudonymOf) => {
      const rest = onlyFullNames ? text : replaceUnspaced(text, pseudonymOf)
      return outsideRedacted(rest, (part) => replaceWords(part, onlyFullNames, pseudonymOf))
    },
  }
}

/** One expression for all values in scripts without spaces, longest first. */
function patternOf(values: readonly string[]): RegExp | null {
  if (values.length === 0) return null
  const longestFirst = values.toSorted((one, other) => other.length - one.length)
  return new RegExp(longestFirst.map((value) => RegExp.escape(value)).join('|'), 'giu')
}
