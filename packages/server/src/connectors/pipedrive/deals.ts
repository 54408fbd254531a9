import { type Client, textOf } from '../client.ts'
import type { ReadRange, RecordsPage } from '../connector.ts'
import { fieldsOf } from './fields.ts'
import { toContact } from './map.ts'
import { hasId, type Item, readAll, readPage } from './read.ts'

/** The maximum number of ids in a request. */
const IDS_MAX = 100
const EXISTING = 'open,won,lost'

/** Created once per pull, like the client. */
const stages = new WeakMap<Client, Promise<ReadonlyMap<string, string>>>()

/**
 * Adds the summaries of changed deals to their persons. The deals come in the order of their changes, so a person's last
 * deal is the latest. Pipedrive returns the counts with the persons, so the persons' records are written again. Only
 * persons whose deals are not all in the page need a separate request.
 */
export async function readDeals(client: Client, range: ReadRange): Promise<RecordsPage> {
  const query = { status: `${EXISTING},deleted` }
  const { items, next } = await readPage(client, '/api/v2/deals', range, query)
  const byPerson = Map.groupBy(items, ({ person_id }) => textOf(person_id))
  byPerson.delete(null)
  const persons = await personsOf(
    client,
    [...byPerson.keys()].flatMap((id) => id ?? []),
  )
  const fields = await fieldsOf(client, 'person', persons)
  const names = byPerson.size === 0 ? new Map<string, string>() : await stageNames(client)
  const contacts = []
  for (const person of persons) {
    const inPage = byPerson.get(String(person.id)) ?? []
    const isWhole = inPage.every(exists) && inPage.filter(isWon).length === (person.won_deals_count ?? 0)
    const deals = isWhole ? inPage : await dealsOf(client, person)
    // The counts become properties here. Otherwise the record is the same as that of the persons' own read.
    const { open_deals_count: open, won_deals_count: won, ...record } = person
    const contact = toContact(record, fields)
    const properties = { ...contact.properties, ...propertiesOf({ open, won }, deals, names) }
    contacts.push({ ...contact, properties })
  }
  return { contacts, next }
}

function propertiesOf(
  counts: { open: unknown; won: unknown },
  deals: readonly Item[],
  names: ReadonlyMap<string, string>,
) {
  const latest = deals.at(-1)
  const won = deals.filter(isWon)
  const [currency, ...others] = new Set(won.map((deal) => textOf(deal.currency)))
  const isOneCurrency = others.length === 0
  return {
    pipedrive_open_deals: numberOf(counts.open),
    pipedrive_won_deals: numberOf(counts.won),
    pipedrive_deal_title: textOf(latest?.title),
    pipedrive_deal_status: textOf(latest?.status),
    pipedrive_deal_stage: names.get(String(latest?.stage_id)) ?? null,
    pipedrive_deal_value: numberOf(latest?.value),
    pipedrive_deal_currency: textOf(latest?.currency),
    // A sum of several currencies would be meaningless.
    pipedrive_won_value: won.length > 0 && isOneCurrency ? sumOf(won) : null,
    pipedrive_won_currency: won.length > 0 && isOneCurrency ? (currency ?? null) : null,
  }
}

async function personsOf(client: Client, ids: readonly string[]): Promise<Item[]> {
  const persons: Item[] = []
  for (let from = 0; from < ids.length; from += IDS_MAX) {
    const some = ids.slice(from, from + IDS_MAX).join(',')
    const query = { ids: some, include_fields: 'open_deals_count,won_deals_count' }
    persons.push(...(await readAll(client, '/api/v2/persons', query)).filter(hasId))
  }
  return persons.filter((person) => person.is_deleted !== true)
}

/** All existing deals of a person, latest last. */
async function dealsOf(client: Client, { id }: Item): Promise<Item[]> {
  const query = { person_id: id, status: EXISTING, sort_by: 'update_time' }
  return (await readAll(client, '/api/v2/deals', query)).filter(hasId)
}

function stageNames(client: Client): Promise<ReadonlyMap<string, string>> {
  const known = stages.get(client) ?? readStages(client)
  stages.set(client, known)
  return known
}

async function readStages(client: Client): Promise<ReadonlyMap<string, string>> {
  const all = await readAll(client, '/api/v2/stages')
  return new Map(all.map(({ id, name }) => [String(id), String(name)]))
}

function exists({ is_deleted, status }: Item): boolean {
  return is_deleted !== true && status !== 'deleted'
}

function isWon(deal: Item): boolean {
  return deal.status === 'won' && exists(deal)
}

function sumOf(deals: readonly Item[]): number {
  return deals.reduce((sum, { value }) => sum + (numberOf(value) ?? 0), 0)
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
