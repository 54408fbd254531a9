import { isDeepStrictEqual } from 'node:util'
import { consentOf } from '../../contacts/consent.ts'
import type { Properties, PropertyValue } from '../../contacts/properties.ts'
import type { SourceFields } from '../../contacts/unified-profile.ts'
import type { Contents } from '../../contacts/writing/contact-set.ts'
import type { SourceRecord } from '../../contacts/writing/source-records.ts'
import type { CurrentRecord, Names, OutgoingRecord, WriteBack, WriteBackContact } from '../connector.ts'
import type { WriteBackPair, WriteBackSettings } from './write-back.ts'

type Provenance = Record<string, { source: string; updated_at: string }>

/** A contact that may have to be written, with the values that the system should have. */
export type Candidate = WriteBackContact & { wanted: readonly Wanted[]; names: Names }

/** A value here that did not come from the system. */
interface Wanted extends WriteBackPair {
  /** null: a person removed it. */
  value: PropertyValue | null
  /** The value as the system stores it; empty to remove it. */
  text: string
  /** When it was set here. */
  at: string | undefined
  /** The value that the system reported last. */
  reported: SourceFields[string] | undefined
}

/**
 * Decides from the contact alone what may have to be written; null for nothing. A value that came from the system is never
 * written, so values do not loop between the two systems.
 * @param wasDeleted whether the contact was deleted in the system. A person deleted it, so it is not created again.
 * @param isRequested whether a person asked for this contact. It is then created, even if it was deleted before.
 */
export function candidateOf(
  { row, records }: Contents,
  {
    source,
    settings,
    writeBack,
    wasDeleted,
    isRequested,
  }: {
    source: string
    settings: WriteBackSettings
    writeBack: Pick<WriteBack, 'textOf'>
    wasDeleted: boolean
    isRequested: boolean
  },
): Candidate | null {
  const own = records.find((record) => record.source === source)
  const externalId = own?.external_id ?? null
  const properties = row.properties as Properties
  if (externalId === null) {
    const isWanted = isRequested || (settings.create_missing && !wasDeleted)
    if (!isWanted || obstacleOf(row) !== null) return null
  }
  const byHand = records.find((record) => record.source === 'manual')
  const provenance = row.properties_provenance as Provenance
  const wanted = settings.properties.flatMap(
    (pair) => wantedOf(pair, { properties, provenance, own, byHand, source, textOf: writeBack.textOf }) ?? [],
  )
  if (externalId !== null && wanted.length === 0) return null
  return { externalId, email: row.email, wanted, names: namesOf(properties) }
}

/** Why a contact cannot be created in a system; null: it can. */
export function obstacleOf({ email, properties }: Contents['row']): 'no_email' | 'opted_out' | null {
  if (email === null) return 'no_email'
  return consentOf(properties as Properties) === null ? null : 'opted_out'
}

interface Known {
  properties: Properties
  provenance: Provenance
  own: SourceRecord | undefined
  byHand: SourceRecord | undefined
  source: string
  textOf: WriteBack['textOf']
}

function wantedOf(pair: WriteBackPair, known: Known): Wanted | null {
  const { properties, provenance, own, byHand, source, textOf } = known
  const { property, target } = pair
  const value = valueAt(properties, property)
  const reported = valueAt(own?.fields ?? {}, property)
  if (value === undefined || value === '') {
    // Only a removal by a person is written.
    const removed = valueAt(byHand?.fields ?? {}, property)
    return removed?.value === null ? { ...pair, value: null, text: '', at: removed.updated_at, reported } : null
  }
  const written = valueAt(provenance, property)
  if (written?.source === source) return null
  const text = textOf(target, value)
  return text === null ? null : { ...pair, value, text, at: written?.updated_at, reported }
}

function namesOf(properties: Properties): Names {
  const textAt = (key: string) => {
    const value = valueAt(properties, key)
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
  }
  return { first: textAt('firstname'), last: textAt('lastname'), company: textAt('company') }
}

/**
 * What to write of a contact; null for nothing. The rule of each property is applied to the system's current values: those
 * of the last read may be outdated, and the system may have contacts that were never read. A contact that was not linked to
 * a record and has one is returned even without values, so that it is linked.
 * @param current null: the system does not have the contact.
 */
export function outgoing(
  { externalId, email, wanted, names }: Candidate,
  current: CurrentRecord | null,
): OutgoingRecord | null {
  const id = current?.externalId ?? externalId
  const values = wanted
    .filter((each) => isToWrite(each, current))
    .map(({ property, target, value, text }) => ({ property, target, value, text }))
  return externalId !== null && values.length === 0 ? null : { externalId: id, email, values, names }
}

function isToWrite({ target, conflict, value, text, at, reported }: Wanted, current: CurrentRecord | null): boolean {
  if (current?.lacks?.has(target)) return false
  const theirs = current?.values.get(target)
  if (theirs === undefined) return text !== ''
  const isEqual = theirs.text === text || (value !== null && isDeepStrictEqual(theirs.value, value))
  if (isEqual) return false
  const isKnown = reported !== undefined && isDeepStrictEqual(reported.value, theirs.value)
  // The system converted the same text to this value before, and would do so again.
  if (isKnown && reported.written === text) return false
  if (conflict !== 'newest') return conflict === 'ours'
  // The system's value has no equivalent here, such as a stage that only this account has, so the two cannot be compared.
  if (theirs.value === null) return false
  // The system does not say when a single property changed. The time of its record is used only if the value is new.
  const changedAt = isKnown ? reported.updated_at : current?.changedAt?.toISOString()
  return at !== undefined && changedAt !== undefined && at > changedAt
}

function valueAt<Value>(values: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined
}
