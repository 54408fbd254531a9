import { NO_CONTACT } from '../journal/event-record.ts'
import type { QueryParameters } from '../platform/clickhouse/connect.ts'

/** Names of the events that the service itself records (decisions 4.2). */
export const SYSTEM_EVENTS = [
  'contact_created',
  'contact_updated',
  'contact_deleted',
  'lifecycle_stage_changed',
  'contact_identified',
  'segment_entered',
  'segment_exited',
  'agent_action_proposed',
  'agent_action_executed',
  'agent_action_failed',
] as const

/** Filters of events; all must hold. */
export interface EventFilters {
  event_type?: string
  contact_id?: string
  domain?: string
  url_contains?: string
  /** Text of the element, exactly. */
  text?: string
  text_contains?: string
  class_contains?: string
  element_id?: string
  date_after?: Date
  date_before?: Date
  identified_only?: boolean
  search?: string
  /** The service's own events too. */
  includeSystem?: boolean
}

/** Conditions in ClickHouse's SQL with the values of their placeholders. */
export function eventConditions(filters: EventFilters): { where: string[]; parameters: QueryParameters } {
  const where: string[] = []
  const parameters: QueryParameters = {}
  const add = (condition: string, name: string, value: string) => {
    where.push(condition)
    parameters[name] = value
  }
  // The table is sorted by is_system first: saying it, whichever it is, lets the list be read in order.
  const namesSystemEvent = (SYSTEM_EVENTS as readonly string[]).includes(filters.event_type ?? '')
  if (!filters.includeSystem && !namesSystemEvent) where.push('is_system = 0')
  if (filters.event_type !== undefined) add('event = {event_type: String}', 'event_type', filters.event_type)
  if (filters.contact_id !== undefined) add('contact_id = {contact_id: UUID}', 'contact_id', filters.contact_id)
  if (filters.domain !== undefined) add('domain = {domain: String}', 'domain', filters.domain.toLowerCase())
  if (filters.url_contains !== undefined) {
    add(contains('url', 'url_contains', filters.url_contains), 'url_contains', filters.url_contains)
  }
  if (filters.text !== undefined) add('text = {text: String}', 'text', filters.text)
  if (filters.text_contains !== undefined) {
    add(contains('text', 'text_contains', filters.text_contains), 'text_contains', filters.text_contains)
  }
  if (filters.class_contains !== undefined) {
    add(contains('class', 'class_contains', filters.class_contains), 'class_contains', filters.class_contains)
  }
  if (filters.element_id !== undefined) add('element_id = {element_id: String}', 'element_id', filters.element_id)
  if (filters.date_after) add(`timestamp >= ${moment('date_after')}`, 'date_after', filters.date_after.toISOString())
  if (filters.date_before)
    add(`timestamp <= ${moment('date_before')}`, 'date_before', filters.date_before.toISOString())
  if (filters.identified_only) where.push(`contact_id != toUUID('${NO_CONTACT}')`)
  for (const [index, word] of (filters.search?.split(/\s+/u).filter(Boolean) ?? []).entries()) {
    const name = `word_${index}`
    const found = ['event', 'url', 'domain'].map((column) => contains(column, name, word))
    add(found.join(' OR '), name, word)
  }
  return { where, parameters }
}

/** Whether a column holds a text in any case. The function for texts of ASCII alone is several times faster. */
function contains(column: string, name: string, text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are part of ASCII
  const search = /^[\x00-\x7f]*$/.test(text) ? 'positionCaseInsensitive' : 'positionCaseInsensitiveUTF8'
  return `${search}(${column}, {${name}: String}) > 0`
}

function moment(name: string): string {
  return `parseDateTime64BestEffort({${name}: String}, 3, 'UTC')`
}
