import type { HookField, HookMapping } from '../api/types.ts'
import { pathsOfText, textOfPaths, textOfValues, valuesOfText } from './mapping-text.ts'
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
  /** The paths, see mapping-text.ts, or the fixed value. */
  text: string
  /** The field before it was edited. An unchanged row leaves it as it is; the editor does not show its prefix. */
  kept: HookField
}

export interface ConditionRow {
  id: string
  path: string
  /** The values, see mapping-text.ts. */
  values: string
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
let rows = 0

/** Every field that a mapping has or may have. */
export function draftOf(mapping: HookMapping): Draft {
  const parts = Object.keys(NAMES) as Part[]
  return {
    rows: parts.flatMap((part) => {
      const mapped = (mapping[part] ?? {}) as Record<string, HookField | undefined>
      const named = NAMES[part].map((name) => rowOf(part, name, '', mapped[name]))
      return [...named, ...Object.entries(groupOf(mapping, part)).map(([key, field]) => rowOf(part, null, key, field))]
    }),
    conditions: (mapping.only_when ?? []).map(({ path, equals }) => ({
      id: newRowId(),
      path,
      values: textOfValues(equals),
    })),
  }
}

/** Whether a mapping records anything. */
export function isMapped({ event, contact, company }: HookMapping): boolean {
  return event !== undefined || contact !== undefined || company !== undefined
}

/** A draft with what another one has for the fields that are still empty. */
export function withGuesses({ rows, conditions }: Draft, guessed: Draft): Draft {
  const has = (row: Row) =>
    rows.some(({ part, name, key }) => part === row.part && name === row.name && key === row.key)
  const guessFor = (row: Row) =>
    row.text.trim() === ''
      ? guessed.rows.find(({ part, name, key }) => part === row.part && name === row.name && key === row.key)
      : undefined
  const filled = rows.map((row) => {
    const guess = guessFor(row)
    return guess ? { ...row, from: guess.from, text: guess.text } : row
  })
  return { rows: [...filled, ...guessed.rows.filter((row) => !has(row))], conditions }
}

/** A new property, or field of the data. */
export function newRow(part: Part): Row {
  return rowOf(part, null, '', undefined)
}

export function newCondition(): ConditionRow {
  return { id: newRowId(), path: '', values: '' }
}

function rowOf(part: Part, name: string | null, key: string, field: HookField | undefined): Row {
  return { id: newRowId(), part, name, key, ...shownOf(field ?? {}), kept: field ?? {} }
}

function shownOf({ path, value }: HookField): Pick<Row, 'from' | 'text'> {
  return value === undefined
    ? { from: 'path', text: textOfPaths([path ?? []].flat()) }
    : { from: 'value', text: String(value) }
}

function isUnchanged({ from, text: shown, kept }: Row): boolean {
  const before = shownOf(kept)
  return from === before.from && shown === before.text
}

function newRowId(): string {
  return `row-${++rows}`
}

function groupOf({ event, contact, company }: HookMapping, part: Part): Record<string, HookField> {
  return { event: event?.data, contact: contact?.properties, company: company?.properties }[part] ?? {}
}

/** The mapping to send. Fields without a path or a value are left out. */
export function toMapping({ rows: all, conditions }: Draft): HookMapping {
  const only_when = conditions.flatMap(({ path, values }) => {
    const equals = valuesOfText(values)
    return path.trim() === '' && equals.length === 0 ? [] : [{ path: path.trim(), equals }]
  })
  // A blank fixed value is one, if the mapping had it before.
  const filled = all.filter((row) => row.text.trim() !== '' || (row.kept.value !== undefined && isUnchanged(row)))
  const parts = (Object.keys(NAMES) as Part[]).flatMap((part) => {
    const own = filled.filter((row) => row.part === part)
    if (own.length === 0) return []
    const named = own.flatMap((row) => (row.name === null ? [] : [[row.name, fieldOf(row)] as const]))
    const grouped = own.flatMap((row) => (row.name === null ? [[row.key.trim(), fieldOf(row)] as const] : []))
    const group =
      grouped.length === 0 ? {} : { [part === 'event' ? 'data' : 'properties']: Object.fromEntries(grouped) }
    return [[part, { ...Object.fromEntries(named), ...group }] as const]
  })
  return { ...(only_when.length === 0 ? {} : { only_when }), ...Object.fromEntries(parts) } as HookMapping
}

function fieldOf(row: Row): HookField {
  const { from, text: shown, kept } = row
  if (isUnchanged(row)) return kept
  if (from === 'value') return { value: shown }
  const paths = pathsOfText(shown)
  const prefix = kept.starts_with === undefined ? {} : { starts_with: kept.starts_with }
  return { path: paths.length === 1 ? (paths[0] ?? '') : paths, ...prefix }
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

const VALUES_MAX = 5_000

/** The texts, numbers and truths of a sample, by the paths that the tree of the sample gives them. */
export function valuesOf(sample: unknown): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>()
  const walk = (value: unknown, path: string): void => {
    if (values.size >= VALUES_MAX) return
    if (path !== '') values.set(path, value)
    if (value === null || typeof value !== 'object') return
    const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
    for (const [step, each] of entries) walk(each, pathWithin(path, step))
  }
  walk(sample, '')
  return values
}

/** What a field with these paths finds in the sample: the first that is not empty. Of a list, the item shown is the first. */
export function valueAt(values: ReadonlyMap<string, unknown>, paths: string): unknown {
  return pathsOfText(paths)
    .map((path) => values.get(path.replaceAll('[*]', '[0]').replace(/^\$\.?/, '')))
    .find((value) => value !== undefined && value !== null && value !== '')
}
