import { type Client, textOf } from '../client.ts'
import type { SourceCall } from '../connector.ts'
import { callsOfDeal, type Deal, followStages, type StageEntry } from '../deals.ts'
import { type Item, readAccount, readHistories, readStages, type Stage } from './api.ts'
import { isTrue, numberOf } from './deals.ts'
import { timeOf } from './map.ts'

/**
 * The events of deals. HubSpot has no main contact of a deal, so the one that was created first gets them.
 * @param contactsOf the ids of each deal's contacts. Deals without contacts have no events.
 */
export async function dealCallsOf(
  client: Client,
  deals: readonly Item[],
  contactsOf: ReadonlyMap<string, readonly string[]>,
): Promise<SourceCall[]> {
  const withContacts = deals.flatMap((item) => {
    // HubSpot's ids increase.
    const [contact] = (contactsOf.get(item.id) ?? []).toSorted((one, other) => Number(one) - Number(other))
    return contact === undefined ? [] : [{ item, contact }]
  })
  if (withContacts.length === 0) return []
  const stages = await readStages(client)
  const ids = withContacts.map(({ item }) => item.id)
  const histories = await readHistories(client, 'deals', ids, 'dealstage')
  const needsCurrency = withContacts.some(({ item }) => textOf(item.properties.deal_currency_code) === null)
  const currency = needsCurrency ? (await readAccount(client)).currency : null
  return withContacts.flatMap(({ item, contact }) => {
    // Oldest first, so that moves at the same moment keep their order.
    const entries = (histories.get(item.id) ?? []).toReversed().flatMap((entry) => entryOf(entry, stages))
    return callsOfDeal(dealOf(item, { contact, entries, stages, currency }))
  })
}

interface Known {
  contact: string
  entries: readonly StageEntry[]
  stages: ReadonlyMap<string, Stage>
  /** The account's currency. A deal without its own has this one. */
  currency: string | null
}

function dealOf({ id, properties }: Item, { contact, entries, stages, currency }: Known): Deal {
  const { last, ...followed } = followStages(entries)
  const stageId = textOf(properties.dealstage) ?? ''
  const stage = stages.get(stageId)
  const isCurrent = last?.stageId === stageId
  const at = isCurrent ? last.at : timeOf(properties.hs_lastmodifieddate)
  const isWon = isTrue(properties.hs_is_closed_won)
  const isClosed = isWon || isTrue(properties.hs_is_closed)
  return {
    id,
    contact,
    name: textOf(properties.dealname),
    pipeline: stage?.pipeline ?? null,
    amount: numberOf(properties.amount),
    currency: textOf(properties.deal_currency_code) ?? currency,
    createdAt: timeOf(properties.createdate),
    ...followed,
    outcome:
      isClosed && at !== null
        ? {
            status: isWon ? 'won' : 'lost',
            stage: stage?.name ?? null,
            previous: (isCurrent ? last.previous : last?.stage) ?? null,
            at,
          }
        : null,
  }
}

/** A stage that was deleted has no name. */
function entryOf({ value, timestamp }: Record<string, unknown>, stages: ReadonlyMap<string, Stage>): StageEntry[] {
  const [stageId, at] = [textOf(value), timeOf(timestamp)]
  if (stageId === null || at === null) return []
  const { name = stageId, isClosed = false } = stages.get(stageId) ?? {}
  return [{ stageId, stage: name, isClosed, at }]
}
