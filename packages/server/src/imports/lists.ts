const SEPARATORS = { commas: /:::|[,;|\n]/, semicolons: /:::|[;|\n]/ } as const

/** The different items of a cell, without the quotation marks, brackets and asterisks that exports put around them. */
export function itemsOf(cell: string, separators: keyof typeof SEPARATORS): string[] {
  const inside = /^\[(.*)\]$/s.exec(cell)?.[1] ?? cell
  const items = inside.split(SEPARATORS[separators]).map((item) =>
    item
      .trim()
      .replace(/^\*\s+/, '')
      .replace(/^(["'])(.*)\1$/s, '$2')
      .trim(),
  )
  return [...new Set(items.filter((item) => item !== ''))]
}

const LISTS =
  /(?:^|[^\p{L}])(?:tags?|labels?|groups?|group membership|categor(?:y|ies)|interests?|topics?|skills?|lists?|languages?|schlagworte?|kategorien?|gruppen?|interessen|sprachen|étiquettes?|groupes?|catégories?|intérêts|etiquetas|grupos|categorías|intereses)(?:$|[^\p{L}])/iu
const ITEM_LENGTH_MAX = 40

/**
 * How the items of a column are divided; null if its cells are no lists. Commas count only in columns that are named as
 * lists, because addresses and sentences have them too.
 */
export function listFormatOf(header: string, values: readonly string[]): keyof typeof SEPARATORS | null {
  const divided = (separators: keyof typeof SEPARATORS) =>
    values.filter((value) => itemsOf(value, separators).length > 1).length
  if (LISTS.test(header)) {
    if (divided('semicolons') > 0) return 'semicolons'
    return divided('commas') > 0 ? 'commas' : null
  }
  const items = values.flatMap((value) => itemsOf(value, 'semicolons'))
  const areItems = values.every((value) => /[;|]/.test(value) || !/[.\n]/.test(value))
  const areShort = items.every((item) => item.length <= ITEM_LENGTH_MAX)
  // Tags repeat; what people write does not.
  const repeat = new Set(items).size < items.length
  return areItems && areShort && repeat && divided('semicolons') * 2 > values.length ? 'semicolons' : null
}
