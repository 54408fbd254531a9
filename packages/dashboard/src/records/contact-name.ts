import type { Contact } from '../api/types.ts'
import { propertyText } from '../ui/property-value.ts'
import { text } from './text.ts'

/** The display name of a contact: the name, else the email address. */
export function contactName({ properties }: Pick<Contact, 'properties'>): string {
  const name = [properties.firstname, properties.lastname].map(propertyText).filter(Boolean).join(' ')
  return name || propertyText(properties.email) || text.unnamed
}
