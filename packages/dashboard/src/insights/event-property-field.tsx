import type { Field } from '../filters/fields.ts'
import { useFields } from '../filters/fields.ts'
import { FilterContext } from '../filters/filter-context.tsx'
import { PropertyField } from '../filters/property-field.tsx'

const DATA = 'data.'

interface EventPropertyFieldProps {
  label: string
  /** The name of the events that have it; empty for all. */
  event: string
  /** Whether its numbers are computed with. */
  isNumber?: boolean
  value: string
  autoFocus?: boolean
  onChange: (property: string) => void
}

/** Chooses a property of the events themselves. */
export function EventPropertyField({ event, isNumber = false, ...field }: EventPropertyFieldProps) {
  const { list } = useFields('events-of-contact', event)
  const fields = list.filter(isNumber ? mayHaveNumbers : isGroup)
  return (
    <FilterContext value={{ filtered: 'events-of-contact', isOfEvents: true, fields }}>
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
