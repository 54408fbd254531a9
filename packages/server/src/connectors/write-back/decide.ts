import type { ContactState } from '../../contacts/bulk.ts'
import type { Properties } from '../../contacts/properties.ts'
import { isYes } from '../../contacts/protected-properties.ts'
import type { SourceRecord } from '../../contacts/record-source.ts'
import type { OutgoingRecord, WriteBack, WriteBackPair, WriteBackSettings } from './write-back.ts'

type Provenance = Record<string, { source: string; updated_at: string }>

/**
 * Decides what to write for a contact; null for nothing. The decision depends only on the contact: a value that came from
 * the system, or that equals the system's last value, is not written. So values do not loop between the two systems.
 */
export function outgoing(
  { row, records }: Pick<ContactState, 'row' | 'records'>,
  {
    source,
    settings,
    writeBack,
  }: { source: string; settings: WriteBackSettings; writeBack: Pick<WriteBack, 'textOf'> },
): OutgoingRecord | null {
  const own = records.find((record) => record.source === source)
  const externalId = own?.external_id ?? null
  const properties = row.properties as Properties
  if (externalId === null) {
    const mayCreate = settings.create_missing && row.email !== null && !isYes(valueAt(properties, 'do_not_contact'))
    if (!mayCreate) return null
  }
  const byHand = records.find((record) => record.source === 'manual')
  const provenance = row.properties_provenance as Provenance
  const values = settings.properties.flatMap((pair) => {
    const text = textToWrite(pair, { properties, provenance, own, byHand, source, textOf: writeBack.textOf })
    return text === null ? [] : [{ property: pair.property, target: pair.target, text }]
  })
  if (externalId !== null && values.length === 0) return null
  return { externalId, email: row.email, values }
}

interface Known {
  properties: Properties
  provenance: Provenance
  own: SourceRecord | undefined
  byHand: SourceRecord | undefined
  source: string
  textOf: WriteBack['textOf']
}

/** The text to write for a property; empty to clear it, null to leave it unchanged. */
function textToWrite({ property, target, conflict }: WriteBackPair, known: Known): string | null {
  const { properties, provenance, own, byHand, source, textOf } = known
  const value = valueAt(properties, property)
  const said = valueAt(own?.fields ?? {}, property)
  const theirs = said === undefined || said.value === null ? null : textOf(target, said.value)
  const isLater = (ours: string | undefined) => said === undefined || (ours !== undefined && ours > said.updated_at)
  if (value === undefined || value === '') {
    // Only a removal by a person is written.
    const removed = valueAt(byHand?.fields ?? {}, property)
    if (theirs === null || removed === undefined || removed.value !== null || conflict === 'theirs') return null
    return conflict === 'ours' || isLater(removed.updated_at) ? '' : null
  }
  const written = valueAt(provenance, property)
  if (written?.source === source) return null
  const ours = textOf(target, value)
  if (ours === null || ours === theirs) return null
  if (theirs === null || conflict === 'ours') return ours
  return conflict === 'newest' && isLater(written?.updated_at) ? ours : null
}

function valueAt<Value>(values: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined
}
