/** Letters for which lower case is not enough, with their replacements; the same as in PostgreSQL's fold_text. */
const FOLDED = [
  ['ς', 'σ'],
  ['ı', 'i'],
  ['ſ', 's'],
  ['ß', 'ss'],
  // The lower case of İ: an i with a combining dot.
  ['i\u0307', 'i'],
] as const

/** Folds the case and spelling of a text. */
export function folded(text: string): string {
  const lowered = `lowerUTF8(normalizeUTF8NFC(${text}))`
  return FOLDED.reduce((sql, [letter, stand]) => `replaceAll(${sql}, '${letter}', '${stand}')`, lowered)
}

/** The same in memory. */
export function foldText(text: string): string {
  const lowered = text.normalize('NFC').toLowerCase()
  return FOLDED.reduce((folding, [letter, stand]) => folding.replaceAll(letter, stand), lowered)
}

/** Whether a column contains a parameter's text, ignoring case and spelling. Only rows that need it are folded. */
export function containsFolded(column: string, parameter: string): string {
  const part = folded(`{${parameter}: String}`)
  const isAscii = `length(${column}) = lengthUTF8(${column})`
  return `if(${isAscii}, positionCaseInsensitive(${column}, ${part}), position(${folded(column)}, ${part})) > 0`
}

/** Email addresses, also encoded ones, and phone numbers: with slashes, as in 0171/555, if they are dialled. A path has dates. */
const ADDRESSES = String.raw`[^\\s/<>]*(@|%40)[^\\s/<>]*|[+(0][\\d\\s().-]*/[\\d\\s()./-]{5,}\\d|[+(]?\\d[\\d\\s().-]{5,}\\d`
const OUTSIDE_WORD = String.raw`[^\\p{L}\\p{M}\\p{N}]`
const WORD_AT_START = /^[\p{L}\p{M}\p{N}]/u
const WORD_AT_END = /[\p{L}\p{M}\p{N}]$/u

/**
 * Whether a column contains a text as AI agents see it: without addresses, phone numbers and the parameters of URLs. Only
 * whole words count, because the column may name a person, whose name must not be found letter by letter.
 * @param text the parameter's value
 */
export function containsVisible(column: string, parameter: string, text: string): string {
  const shown = `replaceRegexpAll(cutQueryStringAndFragment(${column}), '${ADDRESSES}', '\\n')`
  const quoted = `regexpQuoteMeta(${folded(`{${parameter}: String}`)})`
  const start = WORD_AT_START.test(text) ? `(^|${OUTSIDE_WORD})` : ''
  const end = WORD_AT_END.test(text) ? `($|${OUTSIDE_WORD})` : ''
  return `match(${folded(shown)}, concat('${start}', ${quoted}, '${end}'))`
}
