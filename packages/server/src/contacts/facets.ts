import type Type from 'typebox'
import { filterText, oneOf } from '../platform/http/query-parameters.ts'
import { COMPANY_PROPERTIES, CONTACT_PROPERTIES, type KnownProperty } from './property-catalogue.ts'

type Properties = Readonly<Record<string, KnownProperty>>

type FacetOf<Known extends Properties> = {
  [Name in keyof Known]: Known[Name] extends { facet: infer Facet extends string } ? Facet : never
}[keyof Known]

/** The properties with a facet, by its name. */
export const CONTACT_FACETS = facetsOf(CONTACT_PROPERTIES)
export const COMPANY_FACETS = facetsOf(COMPANY_PROPERTIES)

/** The filters by facets, as parameters of lists. */
export const CONTACT_FACET_FILTERS = filtersBy(CONTACT_FACETS, CONTACT_PROPERTIES)
export const COMPANY_FACET_FILTERS = filtersBy(COMPANY_FACETS, COMPANY_PROPERTIES)

function facetsOf<Known extends Properties>(properties: Known) {
  const facets = Object.entries(properties).flatMap(([name, { facet }]) => (facet === undefined ? [] : [[facet, name]]))
  return Object.fromEntries(facets) as Readonly<Record<FacetOf<Known>, keyof Known & string>>
}

function filtersBy<Facets extends Readonly<Record<string, string>>>(facets: Facets, properties: Properties) {
  const filters = Object.entries(facets).map(([facet, name]) => {
    const { label = name, choices } = properties[name] ?? {}
    return [facet, choices ? oneOf(choices, `${label}.`) : filterText(`Exact ${label.toLowerCase()}.`)]
  })
  return Object.fromEntries(filters) as Record<keyof Facets, Type.TOptional<Type.TString>>
}
