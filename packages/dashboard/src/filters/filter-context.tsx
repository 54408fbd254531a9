import { createContext, type ReactNode } from 'react'
import type { PickerFailure } from '../ui/picker-failure.tsx'
import { type Field, type Filtered, useFields } from './fields.ts'

/** What the conditions of the surrounding filter are about, and what they can name. */
interface FilterAbout {
  filtered: Filtered
  isOfEvents: boolean
  fields: readonly Field[]
  /** Of reading the fields. */
  failure?: PickerFailure | undefined
}

export const FilterContext = createContext<FilterAbout>({
  filtered: 'contacts',
  isOfEvents: false,
  fields: [],
})

interface FilterOfProps {
  filtered: Filtered
  /** The name of the events that it is about. */
  event?: string | undefined
  children: ReactNode
}

export function FilterOf({ filtered, event, children }: FilterOfProps) {
  const { list: fields, failure } = useFields(filtered, event)
  const isOfEvents = filtered === 'events' || filtered === 'events-of-contact'
  return <FilterContext value={{ filtered, isOfEvents, fields, failure }}>{children}</FilterContext>
}
