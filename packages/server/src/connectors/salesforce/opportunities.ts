import { type Client, textOf } from '../client.ts'
import type { SourceCall } from '../connector.ts'
import { callsOfDeal, type Deal, followStages, type StageEntry } from '../deals.ts'
import { fieldsOf } from './fields.ts'
import { type FieldTypes, query, type SalesforceRecord } from './query.ts'

/** A query is part of a URL, which has a maximum length. */
const IDS_MAX = 200
const TYPES: FieldTypes = new Map([
  ['CreatedDate', 'datetime'],
  ['IsPrimary', 'boolean'],
  ['IsClosed', 'boolean'],
])

/** Created once per pull, like the client. */
const known = new WeakMap<Client, Promise<Stages>>()

/** The stages, by the name that opportunities have. */
type Stages = ReadonlyMap<string, { label: string; isClosed: boolean }>

/**
 * The events of opportunities that have a contact.
 * @returns null if the user may not see the contacts of opportunities.
 */
export async function readOpportunities(
  client: Client,
  records: readonly SalesforceRecord[],
): Promise<{ calls: SourceCall[] } | null> {
  if (records.length === 0) return { calls: [] }
  if ((await fieldsOf(client, 'OpportunityContactRole')) === null) return null
  const roles = await relatedTo(client, records, 'OpportunityContactRole', ['ContactId', 'IsPrimary'])
  const withContact = records.flatMap((record) => {
    const contact = contactOf(roles.get(String(record.Id)) ?? [])
    return contact === null ? [] : [{ record, contact }]
  })
  if (withContact.length === 0) return { calls: [] }
  const stages = await stagesOf(client)
  const isTracked = (await fieldsOf(client, 'OpportunityHistory')) !== null
  const opportunities = withContact.map(({ record }) => record)
  const histories = isTracked ? await relatedTo(client, opportunities, 'OpportunityHistory', ['StageName']) : new Map()
  return {
    calls: withContact.flatMap(({ record, contact }) =>
      callsOfDeal(dealOf(record, { contact, history: histories.get(String(record.Id)) ?? [], stages })),
    ),
  }
}

/** The primary contact, or else the one that was added first. */
function contactOf(roles: readonly SalesforceRecord[]): string | null {
  const role = roles.find(({ IsPrimary }) => IsPrimary === true) ?? roles[0]
  return textOf(role?.ContactId)
}

function dealOf(
  record: SalesforceRecord,
  { contact, history, stages }: { contact: string; history: readonly SalesforceRecord[]; stages: Stages },
): Deal {
  const { last, ...followed } = followStages(history.flatMap((entry) => entryOf(entry, stages)))
  const stageName = textOf(record.StageName) ?? ''
  const isCurrent = last?.stageId === stageName
  const at = isCurrent ? last.at : (timeOf(record.LastStageChangeDate) ?? timeOf(record.LastModifiedDate))
  return {
    id: String(record.Id),
    contact,
    name: textOf(record.Name),
    pipeline: null,
    amount: typeof record.Amount === 'number' ? record.Amount : null,
    currency: textOf(record.CurrencyIsoCode),
    createdAt: timeOf(record.CreatedDate),
    ...followed,
    outcome:
      record.IsClosed === true && at !== null
        ? {
            status: record.IsWon === true ? 'won' : 'lost',
            stage: stages.get(stageName)?.label ?? textOf(stageName),
            previous: (isCurrent ? last.previous : last?.stage) ?? null,
            at,
          }
        : null,
  }
}

function entryOf({ StageName, CreatedDate }: SalesforceRecord, stages: Stages): StageEntry[] {
  const [stageId, at] = [textOf(StageName), timeOf(CreatedDate)]
  if (stageId === null || at === null) return []
  const { label = stageId, isClosed = false } = stages.get(stageId) ?? {}
  return [{ stageId, stage: label, isClosed, at }]
}

/** The records of an object that refers to opportunities, by opportunity, in the order of their creation. */
async function relatedTo(
  client: Client,
  opportunities: readonly SalesforceRecord[],
  sobject: string,
  fields: readonly string[],
): Promise<Map<string, SalesforceRecord[]>> {
  const ids = opportunities.map(({ Id }) => String(Id)).filter((id) => /^[A-Za-z0-9]{15,18}$/.test(id))
  const found: SalesforceRecord[] = []
  for (let from = 0; from < ids.length; from += IDS_MAX) {
    const some = ids.slice(from, from + IDS_MAX).map((id) => `'${id}'`)
    const names = ['Id', 'OpportunityId', 'CreatedDate', ...fields].join(', ')
    const soql = `SELECT ${names} FROM ${sobject} WHERE OpportunityId IN (${some.join(', ')}) ORDER BY CreatedDate`
    found.push(...(await everyPage(client, soql)))
  }
  return Map.groupBy(found, ({ OpportunityId }) => String(OpportunityId))
}

async function everyPage(client: Client, soql: string): Promise<SalesforceRecord[]> {
  let page = await query(client, { soql, isAll: false }, TYPES)
  const found = page.records
  while (page.next !== null) {
    page = await query(client, page.next, TYPES)
    found.push(...page.records)
  }
  return found
}

function stagesOf(client: Client): Promise<Stages> {
  const stages = known.get(client) ?? readStages(client)
  known.set(client, stages)
  return stages
}

async function readStages(client: Client): Promise<Stages> {
  const records = await everyPage(client, 'SELECT ApiName, MasterLabel, IsClosed FROM OpportunityStage')
  return new Map(
    records.map(({ ApiName, MasterLabel, IsClosed }) => {
      const label = textOf(MasterLabel) ?? String(ApiName)
      return [String(ApiName), { label, isClosed: IsClosed === true }] as const
    }),
  )
}

function timeOf(value: unknown): Date | null {
  const time = Date.parse(textOf(value) ?? '')
  return Number.isNaN(time) ? null : new Date(time)
}
