import { createContext, type ReactNode } from 'react'
import { type Field, type Filtered, useFields } from './fields.ts'

/** What the conditions of the surrounding filter are about, and what they can name. */
export const FilterContext = createContext<{ filtered: Filtered; isOfEvents: boolean; fields: readonly Field[] }>({
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
  const { list: fields } = useFields(filtered, event)
  const isOfEvents = filtered === 'events' || filtered === 'events-of-contact'
  return <FilterContext value={{ filtered, isOfEvents, fields }}>{children}</FilterContext>
}
