import { type Client, textOf } from '../client.ts'
import type { ReadRange, RecordsPage, SourceCall } from '../connector.ts'
import { callsOfDeal } from '../deals.ts'
import { fieldsOf } from './fields.ts'
import { toContact } from './map.ts'
import { hasId, type Item, readAll, readPage } from './read.ts'

/** The maximum number of ids in a request. */
const IDS_MAX = 100
const EXISTING = 'open,won,lost'

/** Created once per pull, like the client. */
const known = new WeakMap<Client, Promise<Names>>()

/** The names of stages and pipelines, by id. */
interface Names {
  stages: ReadonlyMap<string, string>
  pipelines: ReadonlyMap<string, string>
}

const NO_NAMES: Names = { stages: new Map(), pipelines: new Map() }

/**
 * Adds the summaries of changed deals to their persons. The deals come in the order of their changes, so a person's last
 * deal is the latest. Pipedrive returns the counts with the persons, so the persons' records are written again. Only
 * persons whose deals are not all in the page need a separate request. The deals' own changes become events.
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
  const names = byPerson.size === 0 ? NO_NAMES : await namesOf(client)
  const contacts = []
  for (const person of persons) {
    const inPage = byPerson.get(String(person.id)) ?? []
    const isWhole = inPage.every(exists) && inPage.filter(isWon).length === (person.won_deals_count ?? 0)
    const deals = isWhole ? inPage : await dealsOf(client, person)
    // The counts become properties here. Otherwise the record is the same as that of the persons' own read.
    const { open_deals_count: open, won_deals_count: won, ...record } = person
    const contact = toContact(record, fields, range.pairs)
    const properties = { ...contact.properties, ...propertiesOf({ open, won }, deals, names.stages) }
    contacts.push({ ...contact, properties })
  }
  return { contacts, calls: items.filter(exists).flatMap((item) => callsOf(item, names)), next }
}

/**
 * Pipedrive lists when a deal entered its current stage, and not the stages before: those would need a request for each deal.
 * Stages between two pulls are not recorded.
 */
function callsOf(item: Item, { stages, pipelines }: Names): SourceCall[] {
  const contact = textOf(item.person_id)
  if (contact === null) return []
  const stageId = String(item.stage_id)
  const stage = stages.get(stageId) ?? null
  const [createdAt, movedAt] = [timeOf(item.add_time), timeOf(item.stage_change_time)]
  const hasMoved = movedAt !== null && movedAt.getTime() !== createdAt?.getTime()
  const status = item.status === 'won' || item.status === 'lost' ? item.status : null
  const closedAt = timeOf(status === 'won' ? item.won_time : item.lost_time) ?? timeOf(item.update_time)
  return callsOfDeal({
    id: String(item.id),
    contact,
    name: textOf(item.title),
    pipeline: pipelines.get(String(item.pipeline_id)) ?? null,
    amount: numberOf(item.value),
    currency: textOf(item.currency),
    createdAt,
    firstStage: hasMoved ? null : stage,
    moves: hasMoved ? [{ stageId, stage: stage ?? stageId, previous: null, at: movedAt }] : [],
    outcome: status === null || closedAt === null ? null : { status, stage, previous: null, at: closedAt },
  })
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

function namesOf(client: Client): Promise<Names> {
  const names = known.get(client) ?? readNames(client)
  known.set(client, names)
  return names
}

async function readNames(client: Client): Promise<Names> {
  const [stages, pipelines] = [await readAll(client, '/api/v2/stages'), await readAll(client, '/api/v2/pipelines')]
  const byId = (all: readonly Record<string, unknown>[]) =>
    new Map(all.map(({ id, name }) => [String(id), String(name)]))
  return { stages: byId(stages), pipelines: byId(pipelines) }
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

function timeOf(value: unknown): Date | null {
  const time = Date.parse(textOf(value) ?? '')
  return Number.isNaN(time) ? null : new Date(time)
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
