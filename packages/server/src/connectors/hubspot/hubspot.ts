import Type from 'typebox'
import { isObject } from '../../platform/is-object.ts'
import type { Client } from '../client.ts'
import { textOf } from '../client.ts'
import type { Connector, ContactRecord, ReadRange, RecordsPage, Settings } from '../connector.ts'
import { hubspotActivities } from './activities.ts'
import {
  type Item,
  nextAt,
  OVERLAP_SECONDS,
  readAccount,
  readAssociations,
  readBatch,
  readOwners,
  readPage,
  readTypes,
  retryAt,
} from './api.ts'
import { dealCallsOf } from './deal-events.ts'
import { DEAL_NAMES, summarizeDeals } from './deals.ts'
import { engagementObjects } from './engagements.ts'
import { COMPANY_NAMES, companyOf, contactOf, contactReading, mergedIds, timeOf } from './map.ts'
import { hubspotWriteBack } from './write.ts'

const SETTING_LENGTH_MAX = 1_000

/**
 * Reads companies, contacts with their owners and deals, and activities: https://developers.hubspot.com/docs/api-reference.
 */
export const hubspot: Connector = {
  name: 'hubspot',
  label: 'HubSpot',
  kind: 'crm',
  credentials: { token: 'The access token of a private app: Settings → Integrations → Private apps.' },
  oauth: {
    provider: 'hubspot',
    scopes: [
      'oauth',
      'crm.objects.contacts.read',
      'crm.objects.contacts.write',
      'crm.objects.companies.read',
      'crm.objects.deals.read',
      'crm.objects.owners.read',
      'sales-email-read',
    ],
  },
  settings: {
    contact_properties: Type.Optional(
      Type.String({
        maxLength: SETTING_LENGTH_MAX,
        pattern: '^[a-z][a-z0-9_]*( *, *[a-z][a-z0-9_]*)*$',
        description: "More contact properties to read: HubSpot's internal names, separated by commas.",
        examples: ['favorite_color, plan'],
      }),
    ),
  },
  baseUrl: () => 'https://api.hubapi.com',
  headers: ({ token, access_token }) => ({ authorization: `Bearer ${token ?? access_token ?? ''}` }),
  // HubSpot allows 5 searches a second, and requests may arrive closer together than they were sent. When reading and
  // writing run at the same time, this stays below 100 requests in 10 seconds.
  pauseMs: 220,
  retryAt,
  nextAt,
  explain: ({ body }) => (isObject(body) ? (textOf(body.message) ?? '') : ''),
  account: async (client) => {
    const { id } = await readAccount(client)
    return { id, label: `HubSpot account ${id ?? ''}` }
  },
  objects: [
    { name: 'companies', overlapSeconds: OVERLAP_SECONDS, read: readCompanies },
    { name: 'contacts', overlapSeconds: OVERLAP_SECONDS, read: readContacts },
    { name: 'deals', overlapSeconds: OVERLAP_SECONDS, needs: ['contacts'], read: readDeals },
    ...engagementObjects(OVERLAP_SECONDS),
  ],
  writeBack: hubspotWriteBack,
  activities: hubspotActivities,
}

async function readCompanies(client: Client, range: ReadRange): Promise<RecordsPage> {
  const reading = {
    type: 'companies',
    properties: COMPANY_NAMES,
    changedAt: 'hs_lastmodifieddate',
    hasDeleted: true,
  }
  const { items, deleted, next } = await readPage(client, reading, range)
  return { companies: await companiesOf(client, items), deletedCompanies: deleted, next }
}

async function companiesOf(client: Client, items: readonly Item[]) {
  if (items.length === 0) return []
  const owners = await readOwners(client)
  const dealsOf = await summarizeDeals(client, 'companies', items)
  return items.map((item) => companyOf(item, owners, dealsOf(item).values))
}

async function readContacts(client: Client, range: ReadRange): Promise<RecordsPage> {
  const { names } = contactReading(furtherProperties(range.settings), range.pairs)
  const reading = { type: 'contacts', properties: names, changedAt: 'lastmodifieddate', hasDeleted: true }
  const { items, deleted, next } = await readPage(client, reading, range)
  const merged = items.flatMap((item) => mergedIds(item).map((from) => ({ from, into: item.id })))
  return { contacts: await contactsOf(client, items, range), deleted, merged, next }
}

async function contactsOf(client: Client, items: readonly Item[], range: ReadRange): Promise<ContactRecord[]> {
  if (items.length === 0) return []
  const reading = contactReading(furtherProperties(range.settings), range.pairs)
  const owners = await readOwners(client)
  const types = reading.needsTypes ? await readTypes(client) : new Map<string, string>()
  const dealsOf = await summarizeDeals(client, 'contacts', items)
  return items.map((item) => {
    const { values: deals, changedAt } = dealsOf(item)
    const times = [timeOf(item.properties.lastmodifieddate), changedAt].flatMap((time) => time?.getTime() ?? [])
    const latest = times.length === 0 ? null : new Date(Math.max(...times))
    return contactOf(item, { reading, types, owners, deals, changedAt: latest })
  })
}

/** Rereads the contacts and companies of changed deals, because their summaries change. The deals' own changes are events. */
async function readDeals(client: Client, range: ReadRange): Promise<RecordsPage> {
  const reading = { type: 'deals', properties: DEAL_NAMES, changedAt: 'hs_lastmodifieddate', hasDeleted: false }
  const { items, next } = await readPage(client, reading, range)
  if (items.length === 0) return { next }
  const ids = items.map(({ id }) => id)
  const companiesOfDeals = await readAssociations(client, 'deals', 'companies', ids)
  const contactsOfDeals = await readAssociations(client, 'deals', 'contacts', ids)
  const idsIn = (associated: Map<string, string[]>) => [...new Set([...associated.values()].flat())]
  const { names } = contactReading(furtherProperties(range.settings), range.pairs)
  const companies = await readBatch(client, 'companies', idsIn(companiesOfDeals), COMPANY_NAMES)
  const contacts = await readBatch(client, 'contacts', idsIn(contactsOfDeals), names)
  return {
    companies: await companiesOf(client, companies),
    contacts: await contactsOf(client, contacts, range),
    calls: await dealCallsOf(client, items, contactsOfDeals),
    next,
  }
}

function furtherProperties({ contact_properties }: Settings): string[] {
  return typeof contact_properties === 'string' ? contact_properties.split(',').map((name) => name.trim()) : []
}
