import Type from 'typebox'
import type { Values } from '../../operations/declare.ts'
import { DAY_MS } from '../../platform/time.ts'
import { compact, pick } from '../results.ts'
import { type Tool, type ToolCall, tool } from '../tool.ts'
import { rowsOf } from './contacts.ts'
import { bag, count, flag, listOf, record, text, texts } from './outputs.ts'

const PARTS = ['contacts', 'companies', 'events', 'segments', 'agents'] as const
type Part = (typeof PARTS)[number]

const NAMES_MAX = 100

const VALUE = Type.Union([Type.String(), Type.Number(), Type.Boolean()])
const PROPERTY = record({
  name: text,
  type: text,
  kinds: texts,
  choices: texts,
  values_seen: count,
  last_seen_at: text,
  top_values: listOf(VALUE),
  hidden: flag,
})
const RECORDS = record({ total: count, properties: listOf(PROPERTY), more_properties: count })

/** Describes the workspace: the names and ids that other tools need. */
export const DESCRIBE_SCHEMA: Tool = tool({
  name: 'describe_schema',
  title: 'Describe the data',
  description:
    'Call this first. The properties of contacts, companies and events, most used first, with the kinds of their values, the most frequent values, and how many values the newest records have (none for columns, which every record has); the most frequent event names of the last 90 days with their counts, the segments with their sizes, and the agents. Says how many more there are. Values of a property that is `hidden` are shown as pseudonyms: filter it by pseudonyms or whole values only.',
  uses: [],
  input: {
    parts: Type.Optional(
      Type.Array(Type.Enum([...PARTS]), { minItems: 1, maxItems: PARTS.length, description: 'Default: all of them.' }),
    ),
  },
  output: {
    contacts: RECORDS,
    companies: RECORDS,
    events: record({
      total_90_days: count,
      event_types: bag,
      more_event_types: count,
      properties: listOf(PROPERTY),
      more_properties: count,
    }),
    segments: record({ total: count, list: listOf(record({ segment_id: text, name: text, contact_count: count })) }),
    agents: record({
      total: count,
      list: listOf(record({ agent_id: text, name: text, description: text, enabled: flag, capabilities: texts })),
    }),
  },
  async run(call, { parts = PARTS }) {
    const described = await Promise.all(parts.map(async (part) => [part, await describe(call, part)] as const))
    return Object.fromEntries(described.filter(([, part]) => part !== null))
  },
})

/** A part of the schema, or null if the caller lacks its scope. */
async function describe(call: ToolCall, part: Part): Promise<unknown> {
  switch (part) {
    case 'contacts':
      return call.may('listContacts') ? describeRecords(call, 'contacts', 'listContacts') : null
    case 'companies':
      return call.may('listCompanies') ? describeRecords(call, 'companies', 'listCompanies') : null
    case 'events':
      return call.may('listEvents') ? describeEvents(call) : null
    case 'segments': {
      if (!call.may('listSegments')) return null
      const { segments, pagination } = await call.operate('listSegments', { limit: 50 })
      return { ...totalOfPage(pagination), list: compact(rowsOf(segments, ['segment_id', 'name', 'contact_count'])) }
    }
    case 'agents': {
      if (!call.may('listAgents')) return null
      const { agents, total } = await call.operate('listAgents', { limit: 50 })
      return { total, list: compact(rowsOf(agents, ['agent_id', 'name', 'description', 'enabled', 'capabilities'])) }
    }
  }
}

async function describeRecords(call: ToolCall, entity: 'contacts' | 'companies', list: string) {
  const [{ count }, properties] = await Promise.all([
    call.operate(list, { count_only: true }),
    describeProperties(call, entity),
  ])
  return { total: count, ...properties }
}

async function describeProperties(call: ToolCall, entity: 'contacts' | 'companies' | 'events') {
  const listed = await call.operate('listProperties', { entity })
  const used = (listed.properties as Values[]).filter(({ values_seen: seen }) => seen !== 0)
  return {
    properties: await Promise.all(used.slice(0, NAMES_MAX).map((property) => shortProperty(call, entity, property))),
    ...more('more_properties', used.length - NAMES_MAX + Number(listed.more)),
  }
}

async function describeEvents(call: ToolCall) {
  const after = new Date(call.now.getTime() - 90 * DAY_MS).toISOString()
  const [{ stats }, properties, { total_items: known }] = await Promise.all([
    call.operate('getEventStats', { group_by: 'type', date_after: after, include: 'system' }),
    describeProperties(call, 'events'),
    call.operate('listEventTypes', { include: 'system', limit: 1 }),
  ])
  const { total, by_type: byType } = stats as { total: number; by_type: { type: string; count: number }[] }
  return {
    total_90_days: total,
    event_types: countsOf(byType),
    ...more('more_event_types', Number(known) - byType.length),
    ...properties,
  }
}

/** The counts by name. Names from which the same values are hidden count together. */
function countsOf(byType: readonly { type: string; count: number }[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const { type, count: events } of byType) counts.set(type, (counts.get(type) ?? 0) + events)
  return Object.fromEntries(counts)
}

function more(name: string, count: number): Values {
  return count > 0 ? { [name]: count } : {}
}

async function shortProperty(
  call: ToolCall,
  entity: 'contacts' | 'companies' | 'events',
  property: Values,
): Promise<Values> {
  const { choices, values_seen: seen, last_seen_at: at, name } = property
  const isHidden = entity !== 'events' && (await call.isHidden(entity, String(name)))
  return {
    ...pick(property, ['name', 'type', 'kinds', ...('top_values' in property ? ['top_values'] : [])]),
    ...(choices === null ? {} : { choices }),
    ...(seen === null ? {} : { values_seen: seen }),
    ...(at === null ? {} : { last_seen_at: at }),
    ...(isHidden ? { hidden: true } : {}),
  }
}

function totalOfPage(pagination: unknown): Values {
  return { total: (pagination as { total_items: number }).total_items }
}
