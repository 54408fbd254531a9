import type { Contact } from '../api/contacts.ts'

/** A property's value as a text. */
export function propertyText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return Array.isArray(value) ? value.join(', ') : String(value)
}

/** What to call a contact: the name, else the e-mail address. */
export function contactName({ properties }: Pick<Contact, 'properties'>): string {
  const name = [properties.firstname, properties.lastname].map(propertyText).filter(Boolean).join(' ')
  return name || propertyText(properties.email) || 'Without a name'
}
