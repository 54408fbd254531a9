import type { Property } from '../api/types.ts'
import { readableAddress } from './readable-address.ts'
import { text } from './text.ts'

export type PropertyValue = string | number | boolean | (string | number | boolean)[]

/** A property's value as a text. */
export function propertyText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return Array.isArray(value) ? value.join(', ') : readableAddress(String(value))
}

/** The same, as people say it: `mql` is “MQL”, `in_progress` “In progress”. Other values stay as they are. */
export function valueWords(property: string, value: unknown): string {
  const shown = propertyText(value)
  const words = text.properties.values[property]
  return words && Object.hasOwn(words, shown) ? (words[shown] ?? shown) : shown
}

/** The only possible values of a property, for a list to choose from. */
export function choicesOf(property: string, choices: readonly string[]): { value: string; label: string }[] {
  return choices.map((value) => ({ value, label: valueWords(property, value) }))
}

/**
 * Converts input to the type of the previous value: a number stays a number if possible, a list a list. Empty text
 * removes the value.
 */
export function typedValue(typed: string, before: PropertyValue | undefined): PropertyValue | null {
  const trimmed = typed.trim()
  if (trimmed === '') return null
  if (typeof before === 'number' && Number.isFinite(Number(trimmed))) return Number(trimmed)
  if (typeof before === 'boolean' && /^(true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true'
  if (Array.isArray(before))
    return trimmed
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean)
  return trimmed
}

/** `lifecyclestage` becomes "Lifecycle stage", `favorite_color` "Favorite color". */
export function propertyLabel(name: string): string {
  const known = text.properties.names[name]
  if (known !== undefined) return known
  const words = name.slice(0, 128).replaceAll(/[_-]+/g, ' ').trim()
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1)
}

/** The names of the properties that only the service writes. */
export function computedNames(properties: readonly Property[] = []): string[] {
  return properties.flatMap(({ name, is_computed }) => (is_computed ? name : []))
}

/** The names of the properties that are shown first, even without a value. */
export function usualNames(properties: readonly Property[] = []): string[] {
  return properties.flatMap(({ name, is_usual }) => (is_usual ? name : []))
}
