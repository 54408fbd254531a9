import { CONTACT_PROPERTIES, namesOf } from './property-catalogue.ts'

const BY_PLAIN_NAME = new Map(
  namesOf(CONTACT_PROPERTIES, ({ isDerived }) => !isDerived).map((name) => [plainName(name), name]),
)

/**
 * The property for a form field, a trait or a column of a file: `firstName`, `First Name` and `first_name` are all
 * `firstname`. Unknown names are only trimmed.
 */
export function propertyNameOf(header: string): string {
  return BY_PLAIN_NAME.get(plainName(header)) ?? header.trim()
}

/** Maps fields to property names; if two map to the same one, the exact name wins. */
export function underPropertyNames(fields: Record<string, unknown>): Record<string, unknown> {
  const isExact = ([name]: [string, unknown]) => propertyNameOf(name) === name
  const entries = Object.entries(fields)
  const renamed = entries.filter((entry) => !isExact(entry)).map(([name, value]) => [propertyNameOf(name), value])
  return Object.fromEntries([...renamed, ...entries.filter(isExact)])
}

/** A name in lower case, without spaces, hyphens and underscores. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '')
}

/**
 * Properties that are personal in every workspace, whatever it says about them. Of several of a kind, the first is the
 * contact's main one.
 */
export const ALWAYS_PERSONAL: readonly string[] = [
  ...['phone', 'name', 'username', 'street', 'address'],
  ...namesOf(CONTACT_PROPERTIES, ({ personal }) => personal !== null),
]
const PLAIN_PERSONAL = new Set(ALWAYS_PERSONAL.map(plainName))

/** Whether a property is personal in every workspace, in any spelling. */
export function isAlwaysPersonal(name: string): boolean {
  return PLAIN_PERSONAL.has(plainName(name))
}
