import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { text } from '../app/search-params.ts'
import type { EventListSearch } from './event-search.ts'

/** Links a count to its events. Text that is too long for the address is not linked. */
export function EventsLink({ search, children }: { search: EventListSearch; children: ReactNode }) {
  if (Object.values(search).some((value) => typeof value === 'string' && text(value) !== value)) return children
  return (
    <Anchor inherit renderRoot={(props) => <Link to="/events" search={search} {...props} />}>
      {children}
    </Anchor>
  )
}
