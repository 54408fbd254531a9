import { isDeepStrictEqual } from 'node:util'
import { isConsent, ruleBrokenBy } from '../consent.ts'
import type { ContactRow } from '../contact-row.ts'
import { mergeProperties, type Properties, requireFewKeys } from '../properties.ts'
import { requireContactFits } from '../size.ts'
import { FIRST_TOUCH_KEYS, hasFirstTouch } from './first-touch-keys.ts'
import { optOutWinner, type Winner } from './opt-out-winner.ts'
import { optOutsIn, withoutReleases, withSayers } from './opt-outs.ts'
import { fieldOf, type SourceKind, type SourceRecord, SYNCED_KINDS } from './source-records.ts'
import { isUnverified, mayReplace, outranks, preferenceOf } from './source-trust.ts'
import { isLate, type SourceWrite, withoutSentSince } from './source-write.ts'

/** The result of a write to a contact. */
export interface AppliedWrite {
  row: ContactRow
  /** The source's new record; null if it has sent a newer one before, so that this write is ignored. */
  record: SourceRecord | null
  /** Keys whose value changed, including removed ones. */
  changed: string[]
  /** Whether the contact changed. */
  isNews: boolean
  /** Whether the contact's row differs from the stored one, even if only in its provenance. */
  isRowDirty: boolean
  /** Whether the source's record changed. */
  isNewsOfSource: boolean
  /** Ignored keys that this source may not change: property keys, and `company_id`. */
  ignored: string[]
}

type Provenance = Record<string, { source: string; updated_at: string }>

/** Whether a write would set the contact's email, if no other contact has it. */
export function wantsEmail(before: ContactRow, write: SourceWrite): write is SourceWrite & { email: string } {
  const isOther = write.email !== undefined && write.email !== before.email
  // Only a person, or a program with an API key, may change the key that all sources match by.
  return isOther && (write.kind === 'manual' || before.email === null)
}

/**
 * Computes the result of a write to a contact, without touching the database. The latest write wins among sources that
 * may replace each other's values (see source-trust.ts); pages cannot change protected properties; once one value of
 * the first touch is written, it can be changed and completed only by hand. A null removes the source's value, and the
 * newest value of another source replaces it; by hand, a null removes the key. Opt-outs have a rule of their own, see
 * opt-out-winner.ts.
 *
 * Whether a key is ignored depends on the source of its value, never on the value itself, so that no page can confirm a
 * guess. @param records the sources' current records. @param newEmail the contact's email after this write, unless the
 * write is late. @throws ServiceError 400 if there would be too many properties, 413 `contact_too_large`.
 */
export function applyWrite(
  before: ContactRow,
  records: readonly SourceRecord[],
  sent: SourceWrite,
  newEmail: string | null,
  now: Date,
): AppliedWrite {
  const own = records.find(({ source }) => source === sent.source)
  const current = isLate(sent, own) ? whatCountsLate(sent, own, before) : sent
  if (current === null) {
    const nothing = { changed: [], isNews: false, isRowDirty: false, isNewsOfSource: false, ignored: [] }
    return { row: before, record: null, ...nothing }
  }
  const email = current === sent || current.email !== undefined ? newEmail : before.email
  const [write, barred] = withoutBarred(withoutReleases(current, own, before), before)
  const entry = { source: write.source, updated_at: (write.at ?? now).toISOString() }
  const { winners, outranked } = winnersOf(before, records, write, entry)
  const values = Object.entries(winners).map(([key, winner]) => [key, winner === null ? null : winner.value] as const)
  const { properties, changed } = mergeProperties(before.properties as Properties, Object.fromEntries(values))
  if (email !== before.email) changed.push('email')

  const provenance: Provenance = { ...(before.properties_provenance as Provenance) }
  const isChanged = new Set(changed)
  let isProvenanceNew = false
  for (const [key, winner] of Object.entries(winners)) {
    if (winner === null) {
      delete provenance[key]
      continue
    }
    // An equal value keeps the source that wrote it first, unless only this source is verified.
    const isConfirmed = outranksCurrent(write, provenance[key], records)
    if (!isChanged.has(key) && winner.source === write.source && !isConfirmed) continue
    provenance[key] = { source: winner.source, updated_at: winner.updated_at }
    isProvenanceNew = true
  }
  const isEmailConfirmed =
    email !== null && write.email === before.email && outranksCurrent(write, provenance.email, records)
  if (email !== before.email || isEmailConfirmed) provenance.email = entry

  const companyId = write.companyId === undefined ? before.company_id : write.companyId
  const isNews = changed.length > 0 || companyId !== before.company_id
  const isSeenEarlier = write.seenAt !== undefined && write.seenAt < before.first_seen_at
  const row: ContactRow = {
    ...before,
    email,
    properties,
    properties_provenance: provenance,
    company_id: companyId,
    ...(isSeenEarlier ? { first_seen_at: write.seenAt } : {}),
    ...(isNews ? { updated_at: now } : {}),
    ...(write.kind === 'enrichment' ? { enriched_at: now } : {}),
  }
  const updated = recordAfter(own, write, entry.updated_at, before, now)
  const recordsAfter = [...records.filter((record) => record !== own), updated.record]
  const stored = { email: before.email, properties: before.properties as Properties, records }
  requireContactFits(stored, { email, properties, records: recordsAfter }, write.kind)
  return {
    row,
    ...updated,
    changed,
    isNews,
    isRowDirty: isNews || isSeenEarlier || isProvenanceNew || isEmailConfirmed || write.kind === 'enrichment',
    ignored: [...barred, ...outranked],
  }
}

/** The contact before a write. */
export function blankContact(contactId: string, source: string, now: Date): ContactRow {
  return {
    contact_id: contactId,
    email: null,
    external_id: null,
    external_id_provisional: false,
    properties: {},
    properties_provenance: {},
    company_id: null,
    creation_source: source,
    first_seen_at: now,
    created_at: now,
    updated_at: now,
    enriched_at: null,
  }
}

/** What counts of a late write; null if nothing does. */
function whatCountsLate(sent: SourceWrite, own: SourceRecord, before: ContactRow): SourceWrite | null {
  return sent.isPartial ? withoutSentSince(sent, own) : lateOptOuts(sent, own, before)
}

/** What a late write says of consent, if it is of another record than the source's latest; null if it says nothing. */
function lateOptOuts(sent: SourceWrite, own: SourceRecord, before: ContactRow): SourceWrite | null {
  const properties = optOutsIn(sent, own, before)
  const { source, kind, yields, statement, at } = sent
  if (!statement || at === undefined || Object.keys(properties).length === 0) return null
  const saidAt = statement.isCurrent ? own.updated_at : at
  const write = { source, kind, properties, at: saidAt, statement: { ...statement, properties } }
  return yields === undefined ? write : { ...write, yields }
}

/** The write without values that a page may never set on this contact; the source's record omits them too. */
function withoutBarred(write: SourceWrite, before: ContactRow): [SourceWrite, barred: string[]] {
  if (!write.isFromPage && !isUnverified(write.kind)) return [write, []]
  const stage = (before.properties as Properties).lifecyclestage ?? ''
  const isAboutConsent = (key: string) => isConsent(key) || ruleBrokenBy(key, write.properties[key]) !== null
  const isBarred = (key: string) => isAboutConsent(key) || (key === 'lifecyclestage' && stage !== '')
  const barred = Object.keys(write.properties).filter(isBarred)
  const properties = Object.fromEntries(Object.entries(write.properties).filter(([key]) => !isBarred(key)))
  if (write.companyId === undefined || before.company_id === null) return [{ ...write, properties }, barred]
  return [{ ...write, properties, companyId: before.company_id }, [...barred, 'company_id']]
}

/**
 * The winning source of each key that the write affects, null for none, and the keys whose value the source may not
 * replace.
 */
function winnersOf(
  before: ContactRow,
  records: readonly SourceRecord[],
  write: SourceWrite,
  entry: { source: string; updated_at: string },
): { winners: Record<string, Winner | null>; outranked: string[] } {
  const properties = before.properties as Properties
  const provenance = before.properties_provenance as Provenance
  const others = records.filter(({ source }) => source !== write.source)
  const isTouched = hasFirstTouch(properties)
  const winners: [string, Winner | null][] = []
  const outranked: string[] = []
  for (const [key, value] of Object.entries(write.properties)) {
    const isKnown = Object.hasOwn(properties, key)
    const current = Object.hasOwn(provenance, key) ? provenance[key] : undefined
    const isByHand = write.kind === 'manual'
    if (isTouched && !isByHand && FIRST_TOUCH_KEYS.includes(key)) {
      outranked.push(key)
      continue
    }
    const written = { key, value, before: isKnown ? properties[key] : undefined, writtenBy: current?.source }
    const optOut = optOutWinner(written, write, others, entry)
    if (optOut === 'kept') {
      outranked.push(key)
    } else if (optOut !== null) {
      winners.push([key, optOut])
    } else if (value !== null) {
      const isBlank = !isKnown || properties[key] === ''
      const isOwn = current?.source === write.source
      const replaces = mayReplace(write.kind, kindOf(current?.source, records)) && !write.yields?.has(key)
      if (!isBlank && !isOwn && !replaces) outranked.push(key)
      else if (write.at === undefined || !isOutdated(key, current, others, write.kind, write.at))
        winners.push([key, { value, ...entry }])
    } else if (isByHand) {
      winners.push([key, null])
    } else if (isKnown && current?.source === write.source) {
      winners.push([key, newestOf(key, others)])
    } else if (isKnown) {
      outranked.push(key)
    }
  }
  return { winners: Object.fromEntries(winners), outranked }
}

/** Whether another source that may replace this one's values has written the key since. */
function isOutdated(
  key: string,
  current: Provenance[string] | undefined,
  others: readonly SourceRecord[],
  writing: SourceKind,
  at: Date,
): boolean {
  const isNewer = (kind: SourceKind, time: string) => new Date(time) > at && mayReplace(kind, writing)
  if (current && isNewer(kindOf(current.source, others), current.updated_at)) return true
  return others.some((record) => {
    const field = fieldOf(record, key)
    return field !== undefined && isNewer(record.kind, field.updated_at)
  })
}

/** The kind of a value's source. A source that no longer exists counts as the tenant's own. */
function kindOf(source: string | undefined, records: readonly SourceRecord[]): SourceKind {
  return records.find((record) => record.source === source)?.kind ?? 'manual'
}

function outranksCurrent(
  { kind }: SourceWrite,
  current: Provenance[string] | undefined,
  records: readonly SourceRecord[],
): boolean {
  return current !== undefined && outranks(kind, kindOf(current.source, records))
}

/** The newest value of a key among the most trusted other sources. */
function newestOf(key: string, others: readonly SourceRecord[]): Winner | null {
  const candidates = others.flatMap((record) => {
    const { value = null, updated_at = '' } = fieldOf(record, key) ?? {}
    if (value === null) return []
    return [{ winner: { value, updated_at, source: record.source }, preference: preferenceOf(record.kind) }]
  })
  candidates.sort((a, b) => a.preference - b.preference || (a.winner.updated_at < b.winner.updated_at ? 1 : -1))
  return candidates[0]?.winner ?? null
}

function recordAfter(own: SourceRecord | undefined, write: SourceWrite, at: string, before: ContactRow, now: Date) {
  const sent = write.email === undefined ? write.properties : { ...write.properties, email: write.email }
  const fields = new Map(Object.entries(own?.fields ?? {}))
  let isNews = own === undefined
  for (const [key, value] of Object.entries(sent)) {
    if (!isDeepStrictEqual(fields.get(key)?.value ?? null, value)) isNews = true
    // A removal by hand is stored, so that a source with an older value cannot restore it.
    if (value === null && write.kind !== 'manual') fields.delete(key)
    else fields.set(key, { value, updated_at: at })
  }
  const after = withSayers(Object.fromEntries(fields), write, own, before)
  // The email counts in the contact only: a first email must fit even if this record contains keys removed by hand.
  const present = Object.entries(after).flatMap(([key, { value }]) =>
    key === 'email' || value === null ? [] : [[key, value] as const],
  )
  requireFewKeys(Object.fromEntries(present), 'contact')
  const externalId = write.externalId ?? own?.external_id ?? null
  const { raw, raw_bytes } = write.raw === undefined ? (own ?? NO_RAW) : asStored(write.raw)
  const record: SourceRecord = {
    source: write.source,
    kind: write.kind,
    external_id: externalId,
    fields: after,
    raw,
    raw_bytes,
    first_seen_at: own?.first_seen_at ?? now,
    updated_at: isLate(write, own) ? own.updated_at : (write.at ?? now),
    synced_at: SYNCED_KINDS.includes(write.kind) ? now : (own?.synced_at ?? null),
    enriched_at: write.kind === 'enrichment' ? now : (own?.enriched_at ?? null),
  }
  const isNewsOfSource =
    isNews || externalId !== (own?.external_id ?? null) || !isDeepStrictEqual(raw, own?.raw ?? null)
  return { record, isNewsOfSource }
}

const NO_RAW = { raw: null, raw_bytes: 0 }

/** A raw record as it will be read back: JSON has neither -0 nor Infinity. */
function asStored(raw: unknown): { raw: unknown; raw_bytes: number } {
  if (raw === null) return NO_RAW
  const text = JSON.stringify(raw)
  return { raw: JSON.parse(text), raw_bytes: Buffer.byteLength(text) }
}
