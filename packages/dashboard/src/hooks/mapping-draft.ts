import type { Field, Mapping } from '../api/hooks.ts'
import { text } from './text.ts'

export type Part = 'event' | 'contact' | 'company'

/** A field of a mapping while it is edited. */
export interface Row {
  id: string
  part: Part
  /** The name of a fixed field, such as `email`; null for a property or a field of the data. */
  name: string | null
  /** The name of a property, or of a field of the data. */
  key: string
  from: 'path' | 'value'
  /** The paths, separated by ` | `, or the fixed value. */
  text: string
  /** Values that the editor keeps but does not show: a prefix, and the type of a fixed value. */
  kept: Field
}

export interface ConditionRow {
  id: string
  path: string
  /** The values, separated by commas. */
  values: string
  kept: (string | number | boolean)[]
}

export interface Draft {
  rows: Row[]
  conditions: ConditionRow[]
}

const NAMES: Record<Part, readonly string[]> = {
  event: ['name', 'id', 'timestamp', 'url'],
  contact: ['email', 'user_id', 'external_id'],
  company: ['domain', 'name'],
}
const BETWEEN = ' | '
let rows = 0

/** Every field that a mapping has or may have. */
export function draftOf(mapping: Mapping): Draft {
  const parts = Object.keys(NAMES) as Part[]
  return {
    rows: parts.flatMap((part) => {
      const mapped = (mapping[part] ?? {}) as Record<string, Field | undefined>
      const named = NAMES[part].map((name) => rowOf(part, name, '', mapped[name]))
      return [...named, ...Object.entries(groupOf(mapping, part)).map(([key, field]) => rowOf(part, null, key, field))]
    }),
    conditions: (mapping.only_when ?? []).map(({ path, equals }) => ({
      id: newRowId(),
      path,
      values: equals.map(String).join(', '),
      kept: equals,
    })),
  }
}

/** A new property, or field of the data. */
export function newRow(part: Part): Row {
  return rowOf(part, null, '', undefined)
}

export function newCondition(): ConditionRow {
  return { id: newRowId(), path: '', values: '', kept: [] }
}

function rowOf(part: Part, name: string | null, key: string, field: Field | undefined): Row {
  const { path, value } = field ?? {}
  const isFixed = value !== undefined
  const shown = isFixed ? String(value) : [path ?? []].flat().join(BETWEEN)
  return { id: newRowId(), part, name, key, from: isFixed ? 'value' : 'path', text: shown, kept: field ?? {} }
}

function newRowId(): string {
  return `row-${++rows}`
}

function groupOf({ event, contact, company }: Mapping, part: Part): Record<string, Field> {
  return { event: event?.data, contact: contact?.properties, company: company?.properties }[part] ?? {}
}

/** The mapping to send. Fields without a path or a value are left out. */
export function toMapping({ rows: all, conditions }: Draft): Mapping {
  const only_when = conditions.flatMap(({ path, values, kept }) => {
    const equals = valuesOf(values, kept)
    return path.trim() === '' && equals.length === 0 ? [] : [{ path: path.trim(), equals }]
  })
  const filled = all.filter((row) => row.text.trim() !== '')
  const parts = (Object.keys(NAMES) as Part[]).flatMap((part) => {
    const own = filled.filter((row) => row.part === part)
    if (own.length === 0) return []
    const named = own.flatMap((row) => (row.name === null ? [] : [[row.name, fieldOf(row)] as const]))
    const grouped = own.flatMap((row) => (row.name === null ? [[row.key.trim(), fieldOf(row)] as const] : []))
    const group =
      grouped.length === 0 ? {} : { [part === 'event' ? 'data' : 'properties']: Object.fromEntries(grouped) }
    return [[part, { ...Object.fromEntries(named), ...group }] as const]
  })
  return { ...(only_when.length === 0 ? {} : { only_when }), ...Object.fromEntries(parts) } as Mapping
}

function fieldOf({ from, text: shown, kept }: Row): Field {
  if (from === 'value') return { value: String(kept.value) === shown ? (kept.value ?? shown) : shown }
  const paths = shown.split('|').map((path) => path.trim())
  const sent = paths.filter((path) => path !== '')
  const prefix = kept.starts_with === undefined ? {} : { starts_with: kept.starts_with }
  return { path: sent.length === 1 ? (sent[0] ?? '') : sent, ...prefix }
}

/** Unchanged values keep their type. A new number, true or false gets that type. */
function valuesOf(values: string, kept: ConditionRow['kept']): ConditionRow['kept'] {
  const texts = values.split(',').map((value) => value.trim())
  return texts
    .filter((value) => value !== '')
    .map((value) => kept.find((each) => String(each) === value) ?? typed(value))
}

function typed(value: string): string | number | boolean {
  if (value === 'true' || value === 'false') return value === 'true'
  return /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(value) ? Number(value) : value
}

/** The name of a row. */
export function nameOf({ part, name, key }: Row): string {
  if (name === null) return text.mapping.field(key.trim())
  return text.mapping.names[`${part}.${name}` as keyof typeof text.mapping.names]
}

/** The path of a field or an item, below another path. */
export function pathWithin(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}[${step}]`
  if (!/^[A-Za-z_][\w-]*$/.test(step)) return `${path}[${JSON.stringify(step)}]`
  return path === '' ? step : `${path}.${step}`
}

/** A property name that is derived from a path: its last field. */
export function keyOfPath(path: string): string {
  return /([A-Za-z_][\w-]*)(\[\d+\])*$/.exec(path)?.[1] ?? ''
}
