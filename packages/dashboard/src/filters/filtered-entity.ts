import { createContext } from 'react'

/** Which records the conditions of a filter are about: companies have no events, and no suggestions. */
export const FilteredEntity = createContext<'contacts' | 'companies'>('contacts')
