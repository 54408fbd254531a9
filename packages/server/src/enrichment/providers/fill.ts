import { isDeepStrictEqual } from 'node:util'
import type { CompanyRow } from '../../companies/company-object.ts'
import { blanksOf } from '../../companies/form-changes.ts'
import { findCompanies } from '../../companies/list.ts'
import { companyOfWrite } from '../../companies/write.ts'
import type { Properties } from '../../contacts/properties.ts'
import { changeContact } from '../../contacts/writing/change.ts'
import { type Contents, recordOf } from '../../contacts/writing/contact-set.ts'
import { readSet } from '../../contacts/writing/keys.ts'
import { ENRICHMENT, fieldOf, isEnrichment } from '../../contacts/writing/source-records.ts'
import type { CompanyOfWrite } from '../../contacts/writing/write.ts'
import type { Writer } from '../../contacts/writing/writer.ts'
import type { MappedAnswer } from '../../hooks/apply-mapping.ts'
import { isObject } from '../../platform/is-object.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { noteProviderChange } from '../runs/provider-changes.ts'
import type { Provider } from './providers.ts'
import type { Subject } from './question.ts'

/** A contact as it is, not locked, with its company. */
export interface Known extends Subject {
  contents: Contents
  company: CompanyRow | null
}

/** What an answer fills, by the names in `fills`. */
export type Filling = Readonly<Record<string, unknown>>

/** Before any company was written, when nothing of an existing one counts as newer. */
const LONG_AGO = new Date(0)

/** Reads a contact and its company. @param sources the providers' sources, whose raw records are needed */
export async function readKnown(tenant: Tenant, contactId: string, sources: readonly string[]): Promise<Known | null> {
  const set = await readSet(tenant, [{ contactIds: [contactId], rawOf: sources }])
  const contents = set.contact(contactId)
  if (!contents) return null
  const { company_id: companyId } = contents.row
  const [company = null] = companyId === null ? [] : await findCompanies(tenant, [companyId])
  return { contents, contact: contents.row, company }
}

/** What a provider may fill and is blank. */
export function blanksFor(provider: Pick<Provider, 'fills' | 'source'>, { contents, company }: Known): string[] {
  return provider.fills.filter((name) => {
    if (name === 'company_id') return mayLink(contents)
    const ofCompany = companyKey(name)
    if (ofCompany === null) return isBlank(contents, name)
    return company === null ? mayLink(contents) : isBlankOfCompany(company, ofCompany)
  })
}

/** What of an answer would be filled. */
export function fillingOf(provider: Pick<Provider, 'fills' | 'source'>, known: Known, found: MappedAnswer): Filling {
  const { contents, company } = known
  const filling: Record<string, unknown> = freeProperties(provider, contents, found)
  const named = found.company
  if (named === null) return filling
  const links = provider.fills.includes('company_id') && mayLink(contents)
  if (!links && company?.domain !== named.domain) return filling
  if (links) filling.company_id = named.domain
  const { name, properties } = allowedOfCompany(provider, named)
  const all = { ...(name === null ? {} : { name }), properties }
  const blanks = company === null ? all : blanksOf(company, all)
  if (blanks.name !== undefined) filling['company.name'] = blanks.name
  for (const [key, value] of Object.entries(blanks.properties)) filling[`company.${key}`] = value
  return filling
}

/**
 * Fills the blanks of a contact and of its company with what a provider answered. @returns what was filled.
 * @throws ServiceError 400, 413 if the contact or the company cannot take it; then nothing is filled.
 */
export async function fill(
  tenant: Tenant,
  { writer }: { writer: Pick<Writer, 'write'> },
  provider: Provider,
  { contactId, runId, known, found, answer, answeredAt }: FillOf,
): Promise<string[]> {
  const planned = fillingOf(provider, known, found)
  if (Object.keys(planned).length === 0) return []
  const company = Object.keys(planned).some((name) => name === 'company_id' || companyKey(name) !== null)
    ? companyToWrite(provider, found)
    : null
  const { filled } = await writer.write(tenant, {
    keys: {
      contactIds: [contactId],
      rawOf: known.contents.records.flatMap(({ source }) => (isEnrichment(source) ? source : [])),
    },
    company,
    apply(set, { now, company: written }) {
      const state = set.contact(contactId)
      if (!state) return { filled: [], change: null }
      const properties = freeProperties(provider, state, found)
      const companyId = written && 'company_id' in planned && mayLink(state) ? written.companyId : null
      const ofCompany = written ? Object.keys(planned).filter((name) => companyKey(name) !== null) : []
      const before = rawOf(state, provider.source)
      const linked = companyId ?? before.company_id
      const raw = {
        answered_at: answeredAt.toISOString(),
        answer,
        ...(linked === undefined ? {} : { company_id: linked }),
      }
      const write = { source: provider.source, kind: 'enrichment', properties, raw } as const
      const earlier = { row: state.row, records: state.records }
      changeContact(set, state, { ...write, ...(companyId === null ? {} : { companyId }) }, now)
      const names = [...Object.keys(properties), ...(companyId === null ? [] : ['company_id']), ...ofCompany]
      return { filled: names, change: { earlier, state, now } }
    },
    async onStored(tx, { change }) {
      if (runId !== null && change !== null)
        await noteProviderChange(tx, runId, change.earlier, change.state, change.now)
    },
  })
  return filled
}

interface FillOf {
  contactId: string
  runId: string | null
  known: Known
  found: MappedAnswer
  answer: unknown
  answeredAt: Date
}

/** The company of an answer, of which an existing one takes what it lacks. */
function companyToWrite(provider: Provider, { company }: MappedAnswer): CompanyOfWrite | null {
  if (company === null) return null
  const { name, properties } = allowedOfCompany(provider, company)
  const data = { domain: company.domain, externalId: null, ...(name === null ? {} : { name }), properties }
  return companyOfWrite(data, { isVerified: true, asOf: LONG_AGO })
}

function allowedOfCompany(
  { fills }: Pick<Provider, 'fills'>,
  { name, properties }: NonNullable<MappedAnswer['company']>,
) {
  const isAllowed = (key: string) => fills.includes(`company.${key}`)
  return {
    name: isAllowed('name') ? name : null,
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => isAllowed(key))),
  }
}

/** The properties of an answer that may be filled: blanks, and what the provider filled itself and says otherwise now. */
function freeProperties(
  { fills, source }: Pick<Provider, 'fills' | 'source'>,
  contents: Contents,
  { properties }: MappedAnswer,
): Properties {
  const { properties: current, properties_provenance: provenance } = contents.row
  const isOwn = (key: string) =>
    Object.hasOwn(provenance as object, key) &&
    (provenance as Record<string, { source: string }>)[key]?.source === source
  const isFree = ([key, value]: [string, unknown]) =>
    fills.includes(key) &&
    (isBlank(contents, key) || (isOwn(key) && !isDeepStrictEqual((current as Properties)[key], value)))
  return Object.fromEntries(Object.entries(properties).filter(isFree))
}

/** Whether a contact has no value of a property, and nobody has removed it. */
function isBlank({ row, records }: Contents, key: string): boolean {
  const properties = row.properties as Properties
  const value = Object.hasOwn(properties, key) ? properties[key] : ''
  return value === '' && !records.some((record) => fieldOf(record, key)?.value === null)
}

function isBlankOfCompany(company: CompanyRow, key: string): boolean {
  const probe = key === 'name' ? { name: 'x', properties: {} } : { properties: { [key]: 'x' } }
  const { name, properties } = blanksOf(company, probe)
  return name !== undefined || Object.keys(properties).length > 0
}

/** Whether a contact without a company may get one: a link of enrichment that is gone was removed by somebody. */
function mayLink(contents: Contents): boolean {
  if (contents.row.company_id !== null) return false
  const ofService = rawOf(contents, ENRICHMENT).company
  const wasLinked = isObject(ofService) && ofService.company_id !== undefined
  const sources = contents.records.flatMap(({ source }) => (isEnrichment(source) ? source : []))
  return !wasLinked && !sources.some((source) => rawOf(contents, source).company_id !== undefined)
}

function rawOf(contents: Contents, source: string): Record<string, unknown> {
  const raw = recordOf(contents, source)?.raw
  return isObject(raw) ? raw : {}
}

/** The key of a company in `company.industry`; null for another name. */
function companyKey(name: string): string | null {
  return name.startsWith('company.') ? name.slice('company.'.length) : null
}
