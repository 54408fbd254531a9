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

/** Whether a column contains a parameter's text, ignoring case and spelling. Only rows that need it are folded. */
export function containsFolded(column: string, parameter: string): string {
  const part = folded(`{${parameter}: String}`)
  const isAscii = `length(${column}) = lengthUTF8(${column})`
  return `if(${isAscii}, positionCaseInsensitive(${column}, ${part}), position(${folded(column)}, ${part})) > 0`
}
