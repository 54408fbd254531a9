/** Every word is compared with every record that an index does not rule out, so their number is what a search costs. */
export const WORDS_MAX = 10

/** The words of a search: every one must occur. */
export function wordsOf(search: string | undefined): string[] {
  return search?.split(/\s+/u).filter(Boolean) ?? []
}
