import type { Icon } from '@tabler/icons-react'

/** A line of the palette that can be chosen. */
export interface PaletteItem {
  id: string
  label: string
  /** A second, dimmed text, such as an email address. */
  hint?: string | undefined
  /** Further words that find it. */
  words?: string
  icon: Icon
  /** Whether it opens another page, which then gets the focus. */
  opensPage: boolean
  run: () => void
}

export interface PaletteGroup {
  title: string
  items: PaletteItem[]
}

/** The items with every word of the query; those in which the words begin so come first. */
export function matching(items: PaletteItem[], query: string): PaletteItem[] {
  const words = query.toLowerCase().split(/\s+/)
  const having = (prefix: string) =>
    items.filter(({ label, words: more = '' }) => {
      const known = ` ${label} ${more}`.toLowerCase()
      return words.every((word) => known.includes(`${prefix}${word}`))
    })
  return [...new Set([...having(' '), ...having('')])]
}
