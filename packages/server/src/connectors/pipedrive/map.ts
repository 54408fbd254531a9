import type { SourceCompany } from '../../companies/source-companies.ts'
import { isObject } from '../../platform/is-object.ts'
import { objectsOf, textOf } from '../client.ts'
import type { ContactRecord, Pair } from '../connector.ts'
import { customProperties, customValue, type Fields, type Value } from './fields.ts'
import type { Item } from './read.ts'

/** Maps an organization to a company. */
export function toCompany(item: Item, fields: Fields): SourceCompany {
  const custom = customProperties(item, fields)
  return {
    externalId: String(item.id),
    domain: textOf(item.website) ?? textOf(custom.pipedrive_website) ?? textOf(custom.pipedrive_domain),
    name: textOf(item.name),
    properties: {
      ...custom,
      ...addressOf(item.address),
      industry: textOf(item.industry),
      annualrevenue: numberOf(item.annual_revenue),
      numberofemployees: numberOf(item.employee_count),
      linkedin_url: textOf(item.linkedin),
    },
  }
}

/** Maps a person to a contact. Only accounts that synchronize contacts have the job title and the postal address. */
export function toContact(item: Item, fields: Fields, pairs: readonly Pair[]): ContactRecord {
  const targets = new Set(pairs.map(({ target }) => target))
  const custom = new Map([...fields].filter(([key]) => !targets.has(key)))
  return {
    external_id: String(item.id),
    email: primaryOf(item.emails),
    properties: {
      ...customProperties(item, custom),
      ...namesOf(item),
      ...(targets.has('phone') ? {} : { phone: primaryOf(item.phones) }),
      ...('marketing_status' in item ? { marketing_status: textOf(item.marketing_status) } : {}),
      ...('job_title' in item ? { jobtitle: textOf(item.job_title) } : {}),
      ...('postal_address' in item ? addressOf(item.postal_address) : {}),
      ...Object.fromEntries(pairs.map(({ property, target }) => [property, targetValue(item, fields, target)])),
    },
    raw: item,
    company_id: textOf(item.org_id),
    ...(textOf(item.update_time) === null ? {} : { updated_at: String(item.update_time) }),
  }
}

/** The names of a person. One without parts is a first name. */
export function namesOf(item: Item): { firstname: string | null; lastname: string | null } {
  const [firstname, lastname] = [textOf(item.first_name), textOf(item.last_name)]
  return { firstname: firstname ?? (lastname === null ? textOf(item.name) : null), lastname }
}

/** The fields besides custom ones that can be written. */
export const STANDARD_TARGETS = ['name', 'phone']

/** What a person has in a field that is written back. */
export function targetValue(item: Item, fields: Fields, target: string): Value {
  if (target === 'name') return textOf(item.name)
  return target === 'phone' ? primaryOf(item.phones) : customValue(item, fields, target)
}

function primaryOf(values: unknown): string | null {
  const all = objectsOf(values)
  const primary = all.find((each) => each.primary === true && textOf(each.value) !== null)
  return textOf(primary?.value) ?? all.map(({ value }) => textOf(value)).find((value) => value !== null) ?? null
}

function addressOf(value: unknown) {
  const { locality, admin_area_level_1: state, country, postal_code, value: address } = isObject(value) ? value : {}
  return {
    address: textOf(address),
    city: textOf(locality),
    state: textOf(state),
    country: textOf(country),
    postal_code: textOf(postal_code),
  }
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}
