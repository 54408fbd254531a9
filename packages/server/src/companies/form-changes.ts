import type { Properties } from '../contacts/properties.ts'
import type { CompanyChanges, CompanyRow } from './company-object.ts'

/** Company data from a form. Anyone can submit a form, for any domain. */
export interface CompanyOfForm {
  domain: string
  name?: string
  properties: Properties
}

/** The keys that a write sets: property keys, and `name`. */
export function keysOf({ name, properties }: Pick<CompanyChanges, 'name' | 'properties'>): string[] {
  return [...(name === undefined ? [] : ['name']), ...Object.keys(properties)]
}

/** The keys still written only by forms after another source's write, which confirms the keys it sets. */
export function formKeys(before: CompanyRow, changes: CompanyChanges): string[] {
  const confirmed = new Set(keysOf(changes))
  return before.form_keys.filter((key) => !confirmed.has(key))
}

/** The given values for which the company has none. */
export function blanksOf(
  before: CompanyRow,
  { name, properties }: Pick<CompanyOfForm, 'name' | 'properties'>,
): Pick<CompanyOfForm, 'name' | 'properties'> {
  const isBlank = blankKeysOf(before)
  return {
    ...(name !== undefined && isBlank('name') ? { name } : {}),
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => isBlank(key))),
  }
}

/**
 * The changes that a form may make to an existing company. As on a contact, it fills blanks and replaces values from
 * earlier forms, but not an existing lifecycle stage. Whether a key is ignored depends on the source of its value,
 * never on the value.
 */
export function changesOfForm(
  before: CompanyRow,
  { name, properties }: Pick<CompanyOfForm, 'name' | 'properties'>,
): { changes: CompanyChanges; formKeys: string[]; ignored: string[] } {
  const isBlank = blankKeysOf(before)
  const mayChange = (key: string) => isBlank(key) || (key !== 'lifecyclestage' && before.form_keys.includes(key))
  const changes: CompanyChanges = {
    ...(name !== undefined && mayChange('name') ? { name } : {}),
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => mayChange(key))),
  }
  return {
    changes,
    formKeys: [...new Set([...before.form_keys, ...keysOf(changes)])],
    ignored: keysOf({ ...(name === undefined ? {} : { name }), properties }).filter((key) => !mayChange(key)),
  }
}

function blankKeysOf(before: CompanyRow): (key: string) => boolean {
  const stored: Record<string, unknown> = { ...(before.properties as Properties), name: before.name }
  return (key) => !Object.hasOwn(stored, key) || (stored[key] ?? '') === ''
}
