import { isDeepStrictEqual } from 'node:util'
import type { Tenant } from '../platform/tenant.ts'
import { COMPUTED } from './computed-names.ts'
import { strictness } from './consent.ts'
import { type ContactRow, propertiesOf } from './contact-row.ts'
import type { Properties, PropertyValue } from './properties.ts'
import type { SourceFields } from './unified-profile.ts'
import type { Contents } from './writing/contact-set.ts'
import { optOutOf } from './writing/opt-out-winner.ts'
import { fieldOf, isEnrichment, type SourceRecord } from './writing/source-records.ts'

/** What one write of a source replaced in a contact, for undoing it. */
export interface Replaced {
  /** The values before, by property; null for a property that the contact did not have. */
  properties: Record<string, { value: PropertyValue; source: string; updated_at: string } | null>
  /** The company that the contact was linked to. */
  companyId: string | null
  /** The source's record before; null if it had none. */
  record: { fields: Record<string, SourceFields[string] | null>; external_id: string | null; updated_at: string } | null
}

type Provenance = Record<string, { source: string; updated_at: string }>

/** Compares a contact before and after a write that happened at `at`. */
export function replacedBy(source: string, before: Contents, after: Contents, at: Date): Replaced {
  const isOfWrite = ofWrite(source, at)
  const [valuesBefore, provenanceBefore] = [propertiesOf(before.row), before.row.properties_provenance as Provenance]
  const written = Object.entries(after.row.properties_provenance as Provenance).filter(
    ([key, entry]) => isOfWrite(entry) && !isDeepStrictEqual(provenanceBefore[key], entry),
  )
  const properties = written.map(([key]) => {
    const [value, entry] = [own(valuesBefore, key), own(provenanceBefore, key)]
    return [key, value === undefined || entry === undefined ? null : { value, ...entry }] as const
  })
  const record = before.records.find((each) => each.source === source)
  const fields = after.records.find((each) => each.source === source)?.fields ?? {}
  const changed = Object.keys(fields).filter((key) => fields[key]?.updated_at === at.toISOString())
  return {
    properties: Object.fromEntries(properties),
    companyId: before.row.company_id === after.row.company_id ? null : after.row.company_id,
    record: record
      ? {
          fields: Object.fromEntries(changed.map((key) => [key, fieldOf(record, key) ?? null])),
          external_id: record.external_id,
          updated_at: record.updated_at.toISOString(),
        }
      : null,
  }
}

/** The result of undoing a write. */
export interface Undone {
  row: ContactRow
  /** The source's record; null if it had none before the write. */
  record: SourceRecord | null
  /** Properties that were restored. */
  changed: string[]
  /** Properties that were changed since the write, and keep their values. */
  kept: string[]
}

/** Restores what the source still is the latest writer of since `at`, without touching the database. */
export function undoWrite(source: string, current: Contents, replaced: Replaced, at: Date, now: Date): Undone {
  const isOfWrite = ofWrite(source, at)
  const values = new Map(Object.entries(propertiesOf(current.row)))
  const provenance = new Map(Object.entries(current.row.properties_provenance as Provenance))
  const changed: string[] = []
  const kept: string[] = []
  const others = current.records.filter((record) => record.source !== source)
  for (const [key, replacedValue] of Object.entries(replaced.properties)) {
    // Another source may have said the same opt-out since.
    const said = optOutOf(key, others)
    const isSilent = said !== null && strictness(key, said.value) > strictness(key, replacedValue?.value)
    const before = isSilent ? said : replacedValue
    const isSame = isDeepStrictEqual(values.get(key), before?.value)
    if (!isOfWrite(provenance.get(key))) {
      if (!isSame) kept.push(key)
      continue
    }
    if (!isSame) changed.push(key)
    if (before === null) {
      values.delete(key)
      provenance.delete(key)
    } else {
      const { value, ...entry } = before
      values.set(key, value)
      provenance.set(key, entry)
    }
  }
  const { email, ...properties } = Object.fromEntries(values) as Properties
  const isLinked = replaced.companyId !== null && current.row.company_id === replaced.companyId
  const row: ContactRow = {
    ...current.row,
    email: typeof email === 'string' ? email : null,
    properties,
    properties_provenance: Object.fromEntries(provenance),
    company_id: isLinked ? null : current.row.company_id,
    ...(changed.length > 0 || isLinked ? { updated_at: now } : {}),
  }
  return { row, record: recordBefore(source, current, replaced, at), changed, kept }
}

function recordBefore(source: string, { records }: Contents, { record }: Replaced, at: Date): SourceRecord | null {
  const current = records.find((each) => each.source === source)
  if (!current) return null
  const written = at.toISOString()
  const fields = new Map(Object.entries(current.fields))
  for (const [key, field] of Object.entries(current.fields)) {
    if (field.updated_at !== written) continue
    const before = record?.fields[key] ?? null
    if (before === null) fields.delete(key)
    else fields.set(key, before)
  }
  const isLatest = current.updated_at.getTime() === at.getTime()
  if (record === null && isLatest && fields.size === 0) return null
  return {
    ...current,
    fields: Object.fromEntries(fields),
    // Another contact may have got the earlier id since.
    external_id: isLatest && record?.external_id === null ? null : current.external_id,
    updated_at: isLatest && record !== null ? new Date(record.updated_at) : current.updated_at,
  }
}

/** Whether a contact that a source created at `at` still has nothing but that write. */
export function isOnlyWrittenBy(source: string, { row, records }: Contents, at: Date): boolean {
  const isOfWrite = ofWrite(source, at)
  // What the service found out about it goes with it.
  const [record, ...others] = records.filter((each) => !isEnrichment(each.source))
  return (
    others.length === 0 &&
    record?.source === source &&
    record.updated_at.getTime() === at.getTime() &&
    row.external_id === null &&
    Object.values(row.properties_provenance as Provenance).every(
      (entry) => isEnrichment(entry.source) || entry.source === COMPUTED || isOfWrite(entry),
    )
  )
}

/** Of these contacts, those with visitors, notes or merged contacts. */
export async function contactsInUse(tenant: Tenant, contactIds: readonly string[]): Promise<Set<string>> {
  if (contactIds.length === 0) return new Set()
  const rows = await tenant.db
    .selectFrom('visitors')
    .select('contact_id')
    .where('contact_id', 'in', contactIds)
    .union(tenant.db.selectFrom('notes').select('contact_id').where('contact_id', 'in', contactIds))
    .union(
      tenant.db.selectFrom('contact_merges').select('survivor_id as contact_id').where('survivor_id', 'in', contactIds),
    )
    .execute()
  return new Set(rows.flatMap(({ contact_id }) => contact_id ?? []))
}

function ofWrite(source: string, at: Date) {
  const updated_at = at.toISOString()
  return (entry: Provenance[string] | undefined) => entry?.source === source && entry.updated_at === updated_at
}

function own<Value>(values: Record<string, Value>, key: string): Value | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined
}
