/** Each word is compared with every record that no index rules out, so the cost of a search grows with its words. */
export const WORDS_MAX = 10

/** The words of a search: every one must occur. */
export function wordsOf(search: string | undefined): string[] {
  return search?.split(/\s+/u).filter(Boolean) ?? []
}
