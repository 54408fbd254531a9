import { sql } from 'kysely'
import Type from 'typebox'
import { conflict, type ServiceError } from '../platform/errors.ts'
import { WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'

/** The names of the properties that the service computes: nobody else writes them. */
export interface ComputedNames {
  contacts: ReadonlySet<string>
  companies: ReadonlySet<string>
}

/** Finds the names of a tenant. It is cheap: the answer is cached. */
export type FindComputedNames = (tenant: Tenant) => Promise<ComputedNames>

/** The source of computed values, in provenance and events. */
export const COMPUTED = 'computed'

/** The keys of sent properties that are computed. */
export function computedAmong(properties: object, names: ReadonlySet<string>): string[] {
  return names.size === 0 ? [] : Object.keys(properties).filter((key) => names.has(key))
}

/** @throws ServiceError 409 `computed_property`, if a property is computed. */
export function requireNotComputed(properties: object, names: ReadonlySet<string>): void {
  if (computedAmong(properties, names).length > 0) throw computedProperty(properties, names)
}

/** The error of who sends properties that are computed. */
export function computedProperty(properties: object, names: ReadonlySet<string>): ServiceError {
  const computed = computedAmong(properties, names)
  const [named, noun] = [computed.slice(0, NAMED_MAX).join(', '), computed.length === 1 ? 'property' : 'properties']
  const message = `Only the service writes the computed ${noun} ${named}. Leave ${computed.length === 1 ? 'it' : 'them'} out.`
  const details = computed.slice(0, NAMED_MAX).map((key) => ({ path: `properties.${key}`, message: 'is computed' }))
  return conflict('computed_property', message, details)
}

const NAMED_MAX = 20

/** The parameter of a list that sorts it by any property, such as a computed one. */
export function sortProperty(records: 'contacts' | 'companies') {
  return Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: `A property of ${records} to sort by, such as a computed one, in place of \`sort_by\`. Numbers come after texts.`,
      examples: ['revenue'],
      ...WORD,
    }),
  )
}

/** The value of a property to sort by: numbers by size. */
export function valueToSortBy(property: string) {
  return sql<unknown>`properties -> ${property}`
}
