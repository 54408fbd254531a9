import { ruleBrokenBy, strictness } from '../consent.ts'
import type { ContactRow } from '../contact-row.ts'
import type { Properties, PropertyChanges } from '../properties.ts'
import type { SourceFields } from '../unified-profile.ts'
import { fieldOf, type SourceRecord } from './source-records.ts'
import type { SourceWrite } from './source-write.ts'

/*
 * Systems often have several records of one person, such as a lead and a contact. A source has one value for each property
 * of the person, but an opt-out also has the ids of the records that say it (`said_by`): only when each of them has taken
 * it back is it released. Otherwise the record that happens to be read last would decide.
 */

/** Said by a record that the system has since deleted with all others of the person. It takes nothing back. */
const DELETED = ''
/** Bounds the size of a field. Records beyond it are not noted, so they need not release it. */
const SAYERS_MAX = 20

type Field = SourceFields[string]

/** A write without the properties that would release, or replace by a bounce, what other records of the source say. */
export function withoutReleases(write: SourceWrite, own: SourceRecord | undefined, contact: ContactRow): SourceWrite {
  const { source, statement } = write
  if (!statement) return write
  const { id, isAgain } = statement
  const isRelease = ([key, value]: [string, unknown]) => {
    const sayers = sayersOf(key, source, own, contact)
    if (sayers === null) return false
    const said = strictness(key, fieldOf(own, key)?.value) || strictness(key, (contact.properties as Properties)[key])
    if (strictness(key, value) >= said) return false
    // Two rows of a file without ids are two records too.
    const isOwn = id !== null && sayers.includes(id)
    return sayers.some((each) => each !== id) || (isAgain && !isOwn)
  }
  const kept = Object.entries(write.properties).filter((entry) => !isRelease(entry))
  return { ...write, properties: Object.fromEntries(kept) }
}

/** The opt-outs that a record says or takes back. They count even if another record of the source was changed later. */
export function optOutsIn(
  { source, statement, at }: SourceWrite,
  own: SourceRecord,
  contact: ContactRow,
): PropertyChanges {
  if (!statement?.isAnother || at === undefined) return {}
  const { id, properties, isCurrent } = statement
  const isOwn = (key: string) => id !== null && sayersOf(key, source, own, contact)?.includes(id)
  // An old version of a record takes nothing back.
  const isOld = (key: string) => !isCurrent && at.toISOString() < (fieldOf(own, key)?.updated_at ?? '')
  const isOptOut = ([key, value]: [string, unknown]) => ruleBrokenBy(key, value) !== null || (isOwn(key) && !isOld(key))
  return Object.fromEntries(Object.entries(properties).filter(isOptOut))
}

/** The fields of a source with the records that say each opt-out, after one of them has spoken. */
export function withSayers(
  fields: SourceFields,
  { source, statement }: SourceWrite,
  own: SourceRecord | undefined,
  contact: ContactRow,
): SourceFields {
  if (!statement) return fields
  const { id, properties } = statement
  const after = Object.entries(fields).map(([key, field]): [string, Field] => {
    if (ruleBrokenBy(key, field.value) === null) return [key, field]
    const before = sayersOf(key, source, own, contact) ?? []
    const said = Object.hasOwn(properties, key) ? ruleBrokenBy(key, properties[key]) !== null : null
    const others = before.filter((each) => each !== id || said === null)
    const said_by = said === true && id !== null ? [...others, id].slice(0, SAYERS_MAX) : others
    // In a fixed order, so that a repeated record changes nothing.
    return [key, { ...field, updated_at: lastSaidAt(key, field, own), said_by: said_by.sort() }]
  })
  return Object.fromEntries(after)
}

/** When an opt-out was last said, so that no version of a record from before takes it back. */
function lastSaidAt(key: string, { updated_at }: Field, own: SourceRecord | undefined): string {
  const before = fieldOf(own, key)
  const isSaidBefore = before !== undefined && ruleBrokenBy(key, before.value) !== null
  return isSaidBefore && before.updated_at > updated_at ? before.updated_at : updated_at
}

/** Of two values of one source for two contacts that become one, the stricter opt-out, else the newer. */
export function mergedField(
  key: string,
  ours: { field: Field; record: SourceRecord },
  theirs: { field: Field; record: SourceRecord },
): Field {
  const [own, other] = [ours, theirs].map(({ field, record }) => sayersIn(key, field, record))
  if (own && other) {
    const said_by = [...new Set([...own, ...other])].slice(0, SAYERS_MAX).sort()
    return {
      ...stricter(key, ours.field, theirs.field),
      updated_at: newer(ours.field, theirs.field).updated_at,
      said_by,
    }
  }
  if (own) return { ...ours.field, said_by: own }
  return other ? { ...theirs.field, said_by: other } : newer(ours.field, theirs.field)
}

function stricter(key: string, ours: Field, theirs: Field): Field {
  const change = strictness(key, theirs.value) - strictness(key, ours.value)
  if (change === 0) return newer(ours, theirs)
  return change > 0 ? theirs : ours
}

function newer(ours: Field, theirs: Field): Field {
  return theirs.updated_at > ours.updated_at ? theirs : ours
}

/** The records of a source that say an opt-out, [] if only records without an id do; null if there is none. */
function sayersOf(
  key: string,
  source: string,
  own: SourceRecord | undefined,
  { properties, properties_provenance }: ContactRow,
): string[] | null {
  const field = fieldOf(own, key)
  const sayers = own && field ? sayersIn(key, field, own) : null
  if (sayers) return sayers
  const provenance = properties_provenance as Record<string, { source: string }>
  const isBySource = Object.hasOwn(provenance, key) && provenance[key]?.source === source
  return isBySource && ruleBrokenBy(key, (properties as Properties)[key]) !== null ? [DELETED] : null
}

function sayersIn(key: string, { value, said_by }: Field, { external_id }: SourceRecord): string[] | null {
  if (ruleBrokenBy(key, value) === null) return null
  return said_by ?? (external_id === null ? [] : [external_id])
}
