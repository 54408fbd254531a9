import { queryOptions } from '@tanstack/react-query'
import type { PersonalPropertyProposal } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

const ENTITIES = ['contacts', 'companies', 'events'] as const
type Entity = (typeof ENTITIES)[number]

/** A property, or a field of events, of which a person may want to say whether AI agents see it. */
export interface Suggestion extends PersonalPropertyProposal {
  name: string
  entity: Entity
}

/** Made from the newest records of every kind. Of a name that several kinds have, the first counts: a choice is of names. */
export const suggestionsQuery = queryOptions({
  queryKey: ['personal-properties'],
  queryFn: async ({ signal }) => {
    const lists = ENTITIES.map(async (entity) => {
      const { properties } = await call('listPersonalProperties', { entity }, signal)
      return properties.flatMap(({ name, proposal }) => (proposal === null ? [] : { name, entity, ...proposal }))
    })
    const found: Suggestion[] = (await Promise.all(lists)).flat()
    return [...new Map(found.toReversed().map((each) => [each.name, each])).values()].toReversed()
  },
})
