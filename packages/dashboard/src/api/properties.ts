import { queryOptions } from '@tanstack/react-query'
import { get } from './client.ts'

/** A property of a kind of record, shown as a column or a filter. */
export interface Property {
  name: string
  label: string
  type: 'text' | 'number' | 'boolean' | 'date' | 'list'
}

export const propertiesQuery = (entity: 'contacts' | 'companies' | 'events') =>
  queryOptions({
    queryKey: ['properties', entity],
    queryFn: ({ signal }) => get<{ properties: Property[] }>('/v1/properties', { entity }, signal),
    staleTime: 5 * 60_000,
  })
