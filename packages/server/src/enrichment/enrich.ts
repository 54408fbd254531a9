import { isDeepStrictEqual } from 'node:util'
import { findOrCreateCompanies } from '../companies/write.ts'
import type { Properties } from '../contacts/properties.ts'
import { applyWrite } from '../contacts/writing/apply.ts'
import { type ContactSet, type ContactState, type Contents, recordOf } from '../contacts/writing/contact-set.ts'
import { changedEvents } from '../contacts/writing/events.ts'
import type { Facts, SeenPlace } from '../contacts/writing/facts.ts'
import { ENRICHMENT, fieldOf } from '../contacts/writing/source-records.ts'
import type { EnrichContacts } from '../contacts/writing/transaction.ts'
import { unlessRefused } from '../contacts/writing/write.ts'
import { ServiceError } from '../platform/errors.ts'
import { isObject } from '../platform/is-object.ts'
import { Collision } from '../platform/postgres/collisions.ts'
import { ENRICHERS } from './all-enrichers.ts'
import { type Enricher, type Found, isEnriched, type Known, textOf } from './enricher.ts'
import type { EnrichmentSettings, FindEnrichmentSettings } from './settings.ts'

/** What enrichment fills in a contact. */
interface Filling {
  properties: Found['properties']
  companyDomain: string | null
  /** What was found, by enricher. */
  raw: Record<string, Found['raw'] & { found_at: string }>
}

/**
 * Fills blanks of the contacts that a set has changed. The other writes of the set have been applied: what is filled is stored
 * with them, in the same statements.
 */
export function createEnrichment(findSettings: FindEnrichmentSettings): EnrichContacts {
  return async (tx, set, now) => {
    const seen = placesSeen(set)
    const changed = [...set.contacts].filter(
      (state) =>
        state.row !== state.stored?.row || set.facts.has(state.row.contact_id) || seen.has(state.row.contact_id),
    )
    if (changed.length === 0) return
    const settings = await findSettings(tx)
    const enrichers = ENRICHERS.filter(({ name }) => !settings.off.has(name))
    const fillings = changed.flatMap((state) => {
      const place = seen.get(state.row.contact_id)
      const facts = { ...(place ? { place } : {}), ...set.facts.get(state.row.contact_id) }
      const filling = fillingOf(enrichers, settings, state, facts, now)
      return filling === null ? [] : [{ state, filling }]
    })
    const domains = new Map(
      fillings.flatMap(({ filling: { companyDomain } }) => (companyDomain ? [[companyDomain, null]] : [])),
    )
    const { byDomain, created } = await findOrCreateCompanies(tx, domains, now)
    set.enrichment.companiesCreated.push(...created)
    for (const { state, filling } of fillings) {
      const companyId = filling.companyDomain === null ? null : byDomain.get(filling.companyDomain)
      // Another transaction has deleted it since it was found.
      if (companyId === undefined) throw new Collision()
      await fill(set, state, filling, companyId, now)
    }
  }
}

/** The places of the events that are stored with the contacts, such as submissions of forms. */
function placesSeen(set: ContactSet): Map<string, SeenPlace> {
  const places = new Map<string, SeenPlace>()
  for (const { owner_id, is_anonymous, is_bot, country, region, city, timestamp } of set.records) {
    if (country === '' || is_anonymous || is_bot) continue
    places.set(owner_id, { country, region, city, at: new Date(timestamp) })
  }
  return places
}

/** What is new of what the enrichers find, and may be filled; null for nothing. */
function fillingOf(
  enrichers: readonly Enricher[],
  settings: EnrichmentSettings,
  state: ContactState,
  facts: Facts,
  now: Date,
): Filling | null {
  const before: Known | null = state.stored && { contact: state.stored.row, facts: {} }
  const rawBefore = rawOf(state)
  let known: Known = { contact: state.row, facts }
  const filling: Filling = { properties: {}, companyDomain: null, raw: {} }
  for (const enricher of enrichers) {
    const isSame = () =>
      before !== null && isDeepStrictEqual(enricher.inputs(before, settings), enricher.inputs(known, settings))
    if (!facts.isAsked && isSame()) continue
    const found = enricher.find(known, settings)
    // What was filled before and is gone was removed by somebody.
    if (found === null || isKnown(found, rawBefore[enricher.name])) continue
    const properties = fillable(known, state, found.properties)
    const isCompanyFree = state.row.company_id === null || state.row.company_id === rawBefore.company?.company_id
    const companyDomain = isCompanyFree ? (found.companyDomain ?? null) : null
    if (Object.keys(properties).length === 0 && companyDomain === null) continue
    Object.assign(filling.properties, properties)
    filling.companyDomain ??= companyDomain
    filling.raw[enricher.name] = { ...found.raw, found_at: now.toISOString() }
    known = { ...known, contact: filledContact(known.contact, properties, now) }
  }
  return Object.keys(filling.raw).length === 0 ? null : filling
}

/** What the enrichers found before. */
function rawOf(contents: Contents): Record<string, Record<string, unknown>> {
  const raw = recordOf(contents, ENRICHMENT)?.raw
  return isObject(raw) ? (raw as Record<string, Record<string, unknown>>) : {}
}

/** Whether an enricher found the same before. When a contact was seen at a place does not count. */
function isKnown({ raw }: Found, before: Record<string, unknown> | undefined): boolean {
  const isTime = (name: string) => name === 'seen_at'
  return before !== undefined && Object.keys(raw).every((name) => isTime(name) || before[name] === raw[name])
}

/** Of some properties, those that are blank or that enrichment filled itself, and that nobody has removed by hand. */
function fillable(known: Known, { records }: Contents, properties: Found['properties']): Found['properties'] {
  const isFree = ([key, value]: [string, string | null]) => {
    if (isEnriched(known, key)) return value !== textOf(known, key)
    const isRemoved = records.some((record) => fieldOf(record, key)?.value === null)
    return value !== null && textOf(known, key) === null && !isListed(known, key) && !isRemoved
  }
  return Object.fromEntries(Object.entries(properties).filter(isFree))
}

/** Whether a property has a value that is no text, such as a list. */
function isListed({ contact }: Known, key: string): boolean {
  const value = (contact.properties as Properties)[key]
  return value !== undefined && value !== null && typeof value !== 'string'
}

/** The contact with what was found, for the enrichers that come after. */
function filledContact(contact: Known['contact'], found: Found['properties'], now: Date): Known['contact'] {
  const entry = { source: ENRICHMENT, updated_at: now.toISOString() }
  return {
    ...contact,
    properties: { ...(contact.properties as Properties), ...found },
    properties_provenance: {
      ...(contact.properties_provenance as object),
      ...Object.fromEntries(Object.keys(found).map((key) => [key, entry])),
    },
  }
}

/** Writes what was found as the source `enrichment`. A contact that is full stays as it is: its write must not fail because of this. */
async function fill(
  set: ContactSet,
  state: ContactState,
  { properties, raw }: Filling,
  companyId: string | null,
  now: Date,
): Promise<void> {
  const { row: before } = state
  const company = { ...raw.company, ...(companyId === null ? {} : { company_id: companyId }) }
  const write = {
    source: ENRICHMENT,
    kind: 'enrichment',
    properties,
    raw: { ...rawOf(state), ...raw, ...(raw.company ? { company } : {}) },
    ...(companyId === null ? {} : { companyId }),
  } as const
  const applied = await unlessRefused(set, () => applyWrite(before, state.records, write, before.email, now))
  if (applied instanceof ServiceError) {
    set.enrichment.refused.set(before.contact_id, applied)
    return
  }
  set.change(state, applied.row, applied.record)
  // A new contact has the values from the start. Its event shows properties alone.
  if (state.stored === null) {
    if (applied.changed.length > 0) set.renewCreation(state)
  } else if (applied.isNews) set.addEvents(...changedEvents(before, applied.row, applied.changed, ENRICHMENT, now))
}
