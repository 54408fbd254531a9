import type { Contact } from '../api/contacts.ts'
import { propertyText } from '../ui/property-value.ts'

/** What to call a contact: the name, else the e-mail address. */
export function contactName({ properties }: Pick<Contact, 'properties'>): string {
  const name = [properties.firstname, properties.lastname].map(propertyText).filter(Boolean).join(' ')
  return name || propertyText(properties.email) || 'Without a name'
}

/** What most contacts have, in the order in which people look for it. */
export const USUAL_PROPERTIES = [
  'email',
  'firstname',
  'lastname',
  'company',
  'jobtitle',
  'lifecyclestage',
  'lead_status',
  'industry',
  'country',
  'state',
  'city',
]
