import type { ContactRow } from '../contacts/contact-row.ts'
import type { Properties } from '../contacts/properties.ts'
import type { Facts } from '../contacts/writing/facts.ts'
import { ENRICHMENT } from '../contacts/writing/source-records.ts'
import type { EnrichmentSettings } from './settings.ts'

/** What enrichers may find something in. */
export interface Known {
  contact: Pick<ContactRow, 'email' | 'properties' | 'properties_provenance'>
  /** What was seen of the contact besides its own values. */
  facts: Facts
}

/** What an enricher found. */
export interface Found {
  /** A null takes back a value that the enricher filled before. */
  properties: Record<string, string | null>
  /** The domain of the contact's company. */
  companyDomain?: string
  /** What it was found in, as the enrichment's raw record shows it. */
  raw: Record<string, string | null>
}

/** One way to learn something about a contact. It only computes: what is filled, and what is not, is decided in enrich.ts. */
export interface Enricher {
  name: string
  /** What it may fill: properties, or `company_id`. */
  fills: readonly string[]
  /** What the result depends on. An enricher is asked again only when one of these has changed. */
  inputs(known: Known, settings: EnrichmentSettings): readonly unknown[]
  /** null: there is nothing to find. */
  find(known: Known, settings: EnrichmentSettings): Found | null
}

type Provenance = Record<string, { source: string }>

/** A property as text; null if it is blank or no text. */
export function textOf({ contact }: Known, key: string): string | null {
  const properties = contact.properties as Properties
  const value = Object.hasOwn(properties, key) ? properties[key] : undefined
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

/** Whether an enricher filled a property. */
export function isEnriched({ contact }: Known, key: string): boolean {
  const provenance = contact.properties_provenance as Provenance
  return Object.hasOwn(provenance, key) && provenance[key]?.source === ENRICHMENT
}

/** What somebody else than an enricher says of a property. */
export function statedText(known: Known, key: string): string | null {
  return isEnriched(known, key) ? null : textOf(known, key)
}
