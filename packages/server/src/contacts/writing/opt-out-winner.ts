import { ruleBrokenBy, strictness } from '../consent.ts'
import type { PropertyValue } from '../properties.ts'
import { fieldOf, type SourceRecord } from './source-records.ts'
import type { SourceWrite } from './source-write.ts'

/*
 * Trust does not decide between opt-outs and what contradicts them. An opt-out always wins, whoever says it. It is released
 * by the source that said it, or by a person; never by another system, whose "no" is usually a default.
 */

export interface Winner {
  value: PropertyValue
  source: string
  updated_at: string
}

/** A property of a contact that a source writes. */
interface Written {
  key: string
  /** null removes it. */
  value: PropertyValue | null
  /** The value so far and who wrote it; undefined if there is none. */
  before: PropertyValue | undefined
  writtenBy: string | undefined
}

/**
 * The value that wins if either the new or the earlier one is an opt-out; `kept` if it is the earlier one, and null if
 * the general rule decides.
 */
export function optOutWinner(
  { key, value, before, writtenBy }: Written,
  write: SourceWrite,
  others: readonly SourceRecord[],
  entry: Omit<Winner, 'value'>,
): Winner | 'kept' | null {
  if (write.kind === 'manual') return null
  const change = strictness(key, value) - strictness(key, before)
  if (change === 0) return null
  if (change > 0) {
    // A system may send an opt-out late that a person has released since.
    const isReleased = value === null || isReleasedByHand(key, entry.updated_at, others)
    return isReleased ? null : { value, ...entry }
  }
  if (writtenBy !== write.source) return 'kept'
  const said = optOutOf(key, others)
  return said !== null && strictness(key, said.value) > strictness(key, value) ? said : null
}

/** What sources say against outreach in a property, unless a person has released it since; null if they say nothing. */
export function optOutOf(key: string, records: readonly SourceRecord[]): Winner | null {
  const said = records.flatMap((record): Winner[] => {
    const { value = null, updated_at = '' } = fieldOf(record, key) ?? {}
    if (value === null || ruleBrokenBy(key, value) === null) return []
    return isReleasedByHand(key, updated_at, records) ? [] : [{ value, source: record.source, updated_at }]
  })
  said.sort((a, b) => strictness(key, b.value) - strictness(key, a.value) || (a.updated_at < b.updated_at ? 1 : -1))
  return said[0] ?? null
}

/** Whether a person has set or removed the property since a time, so that it no longer stops outreach. */
function isReleasedByHand(key: string, since: string, records: readonly SourceRecord[]): boolean {
  return records.some((record) => {
    const field = record.kind === 'manual' ? fieldOf(record, key) : undefined
    return field !== undefined && ruleBrokenBy(key, field.value) === null && field.updated_at >= since
  })
}
