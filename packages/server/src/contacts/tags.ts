import type { PropertyChanges } from './properties.ts'

/** The property with the tags of a contact. */
export const TAGS = 'tags'

/**
 * What a record says with one tag more: its own tags replace those that the contact has, and the tag is added to them. A text
 * with tags becomes a list.
 */
export function withTag(said: PropertyChanges, current: unknown, tag: string): PropertyChanges {
  const tags = listOf(said[TAGS] ?? current)
  return { ...said, [TAGS]: tags.includes(tag) ? tags : [...tags, tag] }
}

function listOf(value: unknown): (string | number | boolean)[] {
  if (Array.isArray(value)) return value
  if (value === undefined || value === null) return []
  const parts = String(value).split(/[,;|\n]/)
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}
