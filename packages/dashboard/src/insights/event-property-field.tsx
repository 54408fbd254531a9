import type { Field } from '../filters/fields.ts'
import { useFields } from '../filters/fields.ts'
import { FilterContext } from '../filters/filter-context.tsx'
import { PropertyField } from '../filters/property-field.tsx'
import { useMay } from '../session/may.ts'

const DATA = 'data.'

interface EventPropertyFieldProps {
  label: string
  /** The name of the events that have it; empty for all. */
  event: string
  /** Whether its numbers are computed with. */
  isNumber?: boolean
  /** Whether values of the event's contact and company can be chosen, too. */
  withContacts?: boolean
  value: string
  autoFocus?: boolean
  onChange: (property: string) => void
}

/** Chooses a property of the events. */
export function EventPropertyField({
  event,
  isNumber = false,
  withContacts = false,
  ...field
}: EventPropertyFieldProps) {
  const mayRead = useMay('contacts:read')
  const filtered = withContacts && mayRead ? 'events' : 'events-of-contact'
  const { list } = useFields(filtered, event)
  const fields = list.filter(isNumber ? mayHaveNumbers : isGroup)
  return (
    <FilterContext value={{ filtered, isOfEvents: true, fields }}>
      <PropertyField {...field} />
    </FilterContext>
  )
}

/** Numbers are in the data; a text may be one too, where nothing better is known. */
function mayHaveNumbers({ name, type }: Field): boolean {
  return name.startsWith(DATA) && (type === 'number' || type === undefined)
}

/** Each moment would be a value of its own. */
function isGroup({ type }: Field): boolean {
  return type !== 'date'
}
