import { createContext, type ReactNode } from 'react'
import { type Field, type Filtered, useFields } from './fields.ts'

/** What the conditions of the surrounding filter are about, and what they can name. */
export const FilterContext = createContext<{ filtered: Filtered; isOfEvents: boolean; fields: readonly Field[] }>({
  filtered: 'contacts',
  isOfEvents: false,
  fields: [],
})

export function FilterOf({ filtered, children }: { filtered: Filtered; children: ReactNode }) {
  const { list: fields } = useFields(filtered)
  const isOfEvents = filtered === 'events' || filtered === 'events-of-contact'
  return <FilterContext value={{ filtered, isOfEvents, fields }}>{children}</FilterContext>
}
