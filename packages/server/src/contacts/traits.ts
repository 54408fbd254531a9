import type { ErrorDetail } from '../platform/errors.ts'
import { isObject } from '../platform/is-object.ts'
import { checkProperties, PROPERTIES_MAX, type PropertyChanges } from './properties.ts'
import { propertyNameOf } from './property-names.ts'

/**
 * Flattens the traits that pages and SDKs send: `address: {city}` becomes `address.city`. A key sent with the dot wins.
 * Deeper nesting stays, and the validation of properties rejects it.
 */
export function flattenTraits(
  traits: Record<string, unknown>,
  isWhole: (key: string) => boolean = () => false,
): Record<string, unknown> {
  const entries = Object.entries(traits)
  const flat = entries.filter(([key, value]) => !isObject(value) || isWhole(key))
  const nested = entries.flatMap(([key, value]) =>
    isObject(value) && !isWhole(key)
      ? Object.entries(value).map(([inner, each]) => [`${key}.${inner}`, each] as const)
      : [],
  )
  return Object.fromEntries([...nested, ...flat])
}

/** The same of a person's traits. Their email is one text: an object in its place stays, to be reported as none. */
export function flattenPersonTraits(traits: Record<string, unknown>): Record<string, unknown> {
  return flattenTraits(traits, (key) => propertyNameOf(key) === 'email')
}

/** Splits traits into valid properties and the problems of the rest. */
export function usableTraits(traits: Record<string, unknown>): {
  properties: PropertyChanges
  problems: ErrorDetail[]
} {
  const usable: [string, unknown][] = []
  const problems: ErrorDetail[] = []
  for (const [key, value] of Object.entries(flattenTraits(traits))) {
    const [problem] = checkProperties({ [key]: value })
    if (problem) problems.push({ ...problem, path: problem.path.replace(/^properties/, 'traits') })
    else if (usable.length < PROPERTIES_MAX) usable.push([key, value])
    else problems.push({ path: `traits.${key}`, message: `exceeds the limit of ${PROPERTIES_MAX}` })
  }
  return { properties: Object.fromEntries(usable) as PropertyChanges, problems }
}
