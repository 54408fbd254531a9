import { queryOptions } from '@tanstack/react-query'
import type { Property } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

/** A property of a kind of record, shown as a column or a filter. */
export type { Property }

/** The names of those that are shown first, even without a value. */
export function usualNames(properties: readonly Property[] = []): string[] {
  return properties.flatMap(({ name, is_usual }) => (is_usual ? name : []))
}

export const propertiesQuery = (entity: 'contacts' | 'companies' | 'events') =>
  queryOptions({
    queryKey: ['properties', entity],
    queryFn: ({ signal }) => call('listProperties', { entity }, signal),
    // Any event or contact can bring a new one, which people look for as soon as they have sent it.
    staleTime: 15_000,
  })
