/** Letters for which lower case is not enough, and what stands for them; the same as in PostgreSQL's fold_text. */
const FOLDED = [
  ['ς', 'σ'],
  ['ı', 'i'],
  ['ſ', 's'],
  ['ß', 'ss'],
  // What lower case makes of İ: an i with a dot of its own.
  ['i\u0307', 'i'],
] as const

/** A text without what case and spelling make of it. */
export function folded(text: string): string {
  const lowered = `lowerUTF8(normalizeUTF8NFC(${text}))`
  return FOLDED.reduce((sql, [letter, stand]) => `replaceAll(${sql}, '${letter}', '${stand}')`, lowered)
}

/** Whether a column holds the text of a parameter, in any case and spelling. Folding is left to the rows that need it. */
export function containsFolded(column: string, parameter: string): string {
  const part = folded(`{${parameter}: String}`)
  const isAscii = `length(${column}) = lengthUTF8(${column})`
  return `if(${isAscii}, positionCaseInsensitive(${column}, ${part}), position(${folded(column)}, ${part})) > 0`
}
