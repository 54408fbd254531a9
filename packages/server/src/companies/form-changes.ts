import type { Properties } from '../contacts/properties.ts'
import type { CompanyRow } from './company-object.ts'
import type { CompanyChanges } from './write.ts'

/** What a form says of a company: anybody can submit one, for any domain. */
export interface CompanyOfForm {
  domain: string
  name?: string
  properties: Properties
}

/** The keys that are said: those of properties, and `name`. */
export function keysOf({ name, properties }: Pick<CompanyChanges, 'name' | 'properties'>): string[] {
  return [...(name === undefined ? [] : ['name']), ...Object.keys(properties)]
}

/** The keys that only forms have said, after somebody else's changes: what those say again is confirmed. */
export function saidByForms(before: CompanyRow, changes: CompanyChanges): string[] {
  const said = new Set(keysOf(changes))
  return before.said_by_forms.filter((key) => !said.has(key))
}

/**
 * What a form may change of a company that exists, as of a contact: it fills blanks and replaces what forms have said. A
 * lifecycle stage that is set stays. What is left out follows from who said a value, never from the value.
 */
export function changesOfForm(
  before: CompanyRow,
  { name, properties }: CompanyOfForm,
): { changes: CompanyChanges; saidByForms: string[]; leftOut: string[] } {
  const stored: Record<string, unknown> = { ...(before.properties as Properties), name: before.name }
  const isBlank = (key: string) => !Object.hasOwn(stored, key) || (stored[key] ?? '') === ''
  const mayChange = (key: string) => isBlank(key) || (key !== 'lifecyclestage' && before.said_by_forms.includes(key))
  const changes: CompanyChanges = {
    ...(name !== undefined && mayChange('name') ? { name } : {}),
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => mayChange(key))),
  }
  return {
    changes,
    saidByForms: [...new Set([...before.said_by_forms, ...keysOf(changes)])],
    leftOut: keysOf({ ...(name === undefined ? {} : { name }), properties }).filter((key) => !mayChange(key)),
  }
}
