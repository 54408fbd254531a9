import type { ReactNode } from 'react'
import { text } from '../session/search-params.ts'
import { AnchorLink } from '../ui/link.tsx'
import type { EventListSearch } from './event-search.ts'

interface EventsLinkProps {
  search: EventListSearch
  /** For screen readers, if the text does not say which events. */
  label?: string
  children: ReactNode
}

/** Links a count to its events. Text that is too long for the address is not linked. */
export function EventsLink({ search, label, children }: EventsLinkProps) {
  if (Object.values(search).some((value) => typeof value === 'string' && text(value) !== value)) return children
  return (
    <AnchorLink inherit aria-label={label} to="/events" search={search}>
      {children}
    </AnchorLink>
  )
}
