import { List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { Entity } from '../api/types.ts'
import { allSegmentsQuery } from '../filters/all-segments.ts'
import { useMay } from '../session/may.ts'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

const words = text.property
/** The service's limit for a page. */
const LISTED_MAX = 100

/** What uses a property: segments, agents and scores whose conditions name it. */
export function Users({ name, entity }: { name: string; entity: Entity }) {
  const segments = useQuery({ ...allSegmentsQuery, enabled: useMay('segments:read') })
  const agents = useQuery({ ...queryOf('listAgents', { limit: LISTED_MAX }), enabled: useMay('agents:read') })
  const computed = useQuery(queryOf('listComputedProperties', { limit: LISTED_MAX }))
  const queries = [segments, agents, computed]
  if (queries.some(({ isError }) => isError)) return <Text size="sm">{words.usersFailed}</Text>
  if (queries.some(({ isLoading }) => isLoading)) return <Text size="sm">{words.looking}</Text>
  const names = namesOf(name, entity)
  const users = [
    ...[...(segments.data?.values() ?? [])].flatMap((segment) =>
      mentions(segment.filter, names, segment.entity) ? words.users.segment(segment.name) : [],
    ),
    ...(agents.data?.agents ?? []).flatMap((agent) => {
      const { filter, triggers = [] } = agent.monitoring
      const isTrigger = entity === 'contacts' && triggers.some(({ score }) => score?.name === name)
      return isTrigger || mentions(filter, names, 'contacts') ? words.users.agent(agent.name) : []
    }),
    ...(computed.data?.computed_properties ?? []).flatMap((other) =>
      mentions(other.score, names, other.entity) ? words.users.score(other.name) : [],
    ),
  ]
  if (users.length === 0) return <Text size="sm">{words.notUsed}</Text>
  return (
    <>
      <Text size="sm">{words.usedBy}</Text>
      <List size="sm">
        {users.map((user) => (
          <List.Item key={user}>
            <Foreign max={120}>{user}</Foreign>
          </List.Item>
        ))}
      </List>
    </>
  )
}

/** How filters of contacts, and of companies, name the property. */
function namesOf(name: string, entity: Entity): Record<Entity, ReadonlySet<string>> {
  const own = [name, `properties.${name}`]
  const ofCompany = own.map((each) => `company.${each}`)
  return entity === 'contacts'
    ? { contacts: new Set(own), companies: new Set() }
    : { contacts: new Set(ofCompany), companies: new Set(own) }
}

/** Whether a condition anywhere in a filter names the property. */
function mentions(part: unknown, names: Record<Entity, ReadonlySet<string>>, entity: Entity): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { property } = part as { property?: unknown }
  if (typeof property === 'string' && names[entity].has(property.replace(/^contact\./, ''))) return true
  return Object.values(part).some((each) => mentions(each, names, entity))
}
