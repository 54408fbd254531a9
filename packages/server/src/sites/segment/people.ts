import { parseCompanyDomain } from '../../companies/domain.ts'
import type { CompanyOfGroup } from '../../companies/write.ts'
import type { Properties, PropertyChanges } from '../../contacts/properties.ts'
import { underPropertyNames } from '../../contacts/property-names.ts'
import { flattenPersonTraits, flattenTraits, usableTraits } from '../../contacts/traits.ts'
import { parseEmail } from '../../platform/email.ts'
import type { Call } from '../ingestion/call.ts'
import { type Fields, fieldsOf, textOf } from './fields.ts'

/** Traits of Segment's specification whose property has another name. */
const PROPERTY_OF_TRAIT: Readonly<Record<string, string>> = {
  'company.name': 'company',
  'company.employee_count': 'numberofemployees',
  title: 'jobtitle',
}
const PROPERTY_OF_GROUP_TRAIT: Readonly<Record<string, string>> = { employees: 'numberofemployees' }
const DOMAIN_TRAITS = ['domain', 'website', 'url']

/**
 * Reads who a call is about. The traits in the context are those of an earlier `identify`; newer ones override them.
 * @param warnings gets the traits that cannot be properties.
 */
export function personOf(
  call: Fields,
  traits: Fields,
  warnings: string[],
): Pick<Call, 'userId' | 'visitorId' | 'email' | 'properties'> {
  const sent = { ...fieldsOf(fieldsOf(call.context).traits), ...traits }
  const { email: sentEmail, ...others } = toProperties(flattenPersonTraits(sent), PROPERTY_OF_TRAIT)
  const email = typeof sentEmail === 'string' ? parseEmail(sentEmail) : null
  const isBlank = typeof sentEmail === 'string' && sentEmail.trim() === ''
  if (email === null && !isBlank && (sentEmail ?? null) !== null)
    warnings.push('traits.email is not a valid email address.')
  const properties = usable(others, warnings)
  return {
    userId: idOf(call.userId),
    visitorId: idOf(call.anonymousId),
    email,
    properties: Object.keys(properties).length === 0 ? null : properties,
  }
}

/** The company that a `group` call names; null without a groupId. */
export function groupOf(call: Fields, warnings: string[]): CompanyOfGroup | null {
  const id = idOf(call.groupId)
  if (id === null) return null
  const {
    domain: _domain,
    name,
    ...others
  } = toProperties(flattenTraits(fieldsOf(call.traits)), PROPERTY_OF_GROUP_TRAIT)
  const properties = Object.entries(usable(others, warnings)).filter(([, value]) => value !== null)
  return {
    externalId: id,
    domain: domainOf(id, fieldsOf(call.traits)),
    ...(textOf(name).trim() === '' ? {} : { name: textOf(name).trim() }),
    properties: Object.fromEntries(properties) as Properties,
  }
}

/** Sites often use the domain as groupId; otherwise it is among the traits. */
function domainOf(id: string, traits: Fields): string | null {
  const named = [id, ...DOMAIN_TRAITS.map((name) => textOf(traits[name]))]
  return (
    named.map((text) => (text.includes('.') ? parseCompanyDomain(text) : null)).find((domain) => domain !== null) ??
    null
  )
}

/** An id as a text; null if it is absent or blank. */
export function idOf(value: unknown): string | null {
  const text = textOf(value)
  return text.trim() === '' ? null : text
}

function toProperties(flat: Fields, names: Readonly<Record<string, string>>): Record<string, unknown> {
  return underPropertyNames(Object.fromEntries(Object.entries(flat).map(([key, value]) => [names[key] ?? key, value])))
}

function usable(traits: Record<string, unknown>, warnings: string[]): PropertyChanges {
  const { properties, problems } = usableTraits(traits)
  warnings.push(...problems.map(({ path, message }) => `${path} was ignored: ${message}.`))
  return properties
}
