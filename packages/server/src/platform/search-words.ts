/** Each word is compared with every record that no index rules out, so each adds to the cost of a search. */
export const WORDS_MAX = 10

/** The words of a search, all of which must occur. */
export function wordsOf(search: string | undefined): string[] {
  return search?.split(/\s+/u).filter(Boolean) ?? []
}
