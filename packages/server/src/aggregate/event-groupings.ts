import { dataItems, eventPropertyNamed } from '../conditions/event-property.ts'
import { isShownItem } from '../figures/phone-numbers.ts'
import { type RecordGrouping, recordValue } from '../figures/values-of-records.ts'
import { valuesOfContact } from '../platform/clickhouse/contact-sets.ts'
import type { Tenant } from '../platform/tenant.ts'
import { offsetsBetween } from '../platform/time-zone.ts'
import { EVENT_DIMENSIONS, type EventGrouping, inZone, isPeriod, type KeyKind } from './event-dimensions.ts'
import { hasValue } from './records.ts'

/** What a `group_by` of events names. */
export type NamedGrouping =
  | { by: 'column'; grouping: EventGrouping }
  | { by: 'data'; path: readonly string[] }
  /** A value of the contacts, or of their companies. */
  | { by: 'record'; record: RecordGrouping }
  | { by: 'nothing' }

const KINDS = { text: 'text', boolean: 'boolean', time: 'time', id: 'uuid' } as const satisfies Record<string, KeyKind>

/** The time zone of a question about events, and the first and the last moment that the events may have, in milliseconds. */
export interface InTime {
  timeZone: string
  fromMs: number
  untilMs: number
}

/** The grouping with a name: a dimension, a column, `data.<path>`, `contact.<key>` or `company.<key>`. */
export function groupingNamed(name: string, { timeZone, fromMs, untilMs }: InTime): NamedGrouping {
  if (name === 'company_id') return ofContact(name, timeZone)
  if (Object.hasOwn(EVENT_DIMENSIONS, name)) {
    const dimension: EventGrouping = EVENT_DIMENSIONS[name as keyof typeof EVENT_DIMENSIONS]
    const offsets = isPeriod(dimension.kind) ? offsetsBetween(timeZone, fromMs, untilMs) : []
    return { by: 'column', grouping: inZone(dimension, offsets) }
  }
  if (name.startsWith('contact.')) return ofContact(name.slice('contact.'.length), timeZone)
  if (name.startsWith('company.')) return ofContact(name, timeZone)
  const property = eventPropertyNamed(name)
  if (property === null) return { by: 'nothing' }
  if (property.kind !== 'data') {
    return { by: 'column', grouping: { sql: property.column, kind: KINDS[property.kind] } }
  }
  return { by: 'data', path: property.path }
}

function ofContact(name: string, timeZone: string): NamedGrouping {
  return { by: 'record', record: { entity: 'contacts', name, timeZone } }
}

/**
 * Groups events by a value in their data. @param hidden the numbers that are left out, in digits, for a caller from whom
 * personal values are hidden. So are objects, which may have such numbers in them.
 */
export function byData(path: readonly string[], hidden?: readonly string[]): EventGrouping {
  const { sql, parameters } = dataItems(path, 'key')
  if (hidden === undefined) return { sql, kind: 'items', parameters }
  const shown = `arrayFilter(item -> ${isShownItem('hidden_keys')}, ${sql})`
  return { sql: shown, kind: 'items', parameters: { ...parameters, hidden_keys: hidden } }
}

/** Groups events by a value of their contact. @param setId of a set with these values */
export function byRecord(record: RecordGrouping, setId: string): EventGrouping {
  return {
    sql: valuesOfContact('contact'),
    kind: 'items',
    parameters: { contact: setId },
    valuesOf: 'contact',
    hidesMissing: recordValue(record).kind === 'id',
  }
}

/** Groups all events in one group without a key. */
export const BY_NOTHING: EventGrouping = { sql: `''`, kind: 'text' }

/** Whether anything of the tenant has what is named. */
export async function exists(tenant: Tenant, named: NamedGrouping): Promise<boolean> {
  if (named.by === 'data') return hasData(tenant, named.path)
  if (named.by === 'record') return hasValue(tenant, named.record)
  return named.by === 'column'
}

/** Whether any event of the tenant has a value at a path in its data. */
export async function hasData(tenant: Tenant, path: readonly string[]): Promise<boolean> {
  const { sql, parameters } = dataItems(path, 'sought')
  const rows = await tenant.events.select({
    name: 'aggregate.has_data',
    lane: 'heavy',
    columns: '1 AS found',
    where: [`notEmpty(${sql})`],
    parameters,
    limit: 1,
  })
  return rows.length > 0
}
