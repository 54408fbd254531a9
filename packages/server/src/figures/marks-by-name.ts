import { EVENT_PROPERTY_NAMES, eventPropertyNamed } from '../conditions/event-property.ts'
import { markOfColumn } from '../events/event-object.ts'
import { LABEL, type Marked, valueNamedBy, WORD, when } from '../platform/personal.ts'

/**
 * What values are whose property, column or dimension is named in another field of the answer.
 * @param field with the name or, of a list of values, with the list of their names
 */
export function markByName(field: string, dimensions: Readonly<Record<string, { mark: Marked }>>): Marked {
  const entries = Object.entries(dimensions)
  // The tenant may hide any property.
  const property = valueNamedBy(field)
  return entries.reduce<Marked>((others, [name, { mark }]) => when(field, [name], mark, others), property)
}

/** A company's name and domain are public. */
const OF_COMPANY = { 'company.name': { mark: LABEL }, 'company.domain': { mark: WORD } }

/** Every name of a column of events, with what its values say about people. */
const EVENT_COLUMNS = Object.fromEntries(
  ['createdAt', ...EVENT_PROPERTY_NAMES].map((name) => {
    const property = eventPropertyNamed(name)
    const isText = property !== null && property.kind === 'text'
    return [name, { mark: isText ? markOfColumn(property.column) : WORD }]
  }),
)

/** What the values of an event and of its contact say about people, by their names. */
export const EVENT_MARKS: Readonly<Record<string, { mark: Marked }>> = { ...EVENT_COLUMNS, ...OF_COMPANY }
/** The same of a contact's. */
export const CONTACT_MARKS: Readonly<Record<string, { mark: Marked }>> = OF_COMPANY
