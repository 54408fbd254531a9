import type { PropertyValue } from '../../contacts/properties.ts'
import { type Client, textOf } from '../client.ts'
import { type Item, readAssociations, readBatch, readStages, type Stage } from './api.ts'
import { timeOf } from './map.ts'

export const DEAL_NAMES = [
  'dealname',
  'dealstage',
  'amount',
  'deal_currency_code',
  'closedate',
  'createdate',
  'hs_is_closed',
  'hs_is_closed_won',
  'hs_lastmodifieddate',
]

/** The summary of a contact's or a company's deals. */
export interface DealSummary {
  values: Record<string, PropertyValue | null>
  /** When the last of them changed. */
  changedAt: Date | null
}

const NO_DEALS: DealSummary = summaryOf([], new Map())

/** Summarizes the deals of each record. Records without deals cost no request. */
export async function summarizeDeals(
  client: Client,
  type: 'contacts' | 'companies',
  items: readonly Item[],
): Promise<(item: Item) => DealSummary> {
  const withDeals = items.filter(({ properties }) => Number(textOf(properties.num_associated_deals) ?? 0) > 0)
  if (withDeals.length === 0) return () => NO_DEALS
  const ids = withDeals.map(({ id }) => id)
  const dealIds = await readAssociations(client, type, 'deals', ids)
  const deals = await readBatch(client, 'deals', [...new Set([...dealIds.values()].flat())], DEAL_NAMES)
  const byId = new Map(deals.map((deal) => [deal.id, deal]))
  const stages = await readStages(client)
  return ({ id }) => {
    const own = (dealIds.get(id) ?? []).flatMap((dealId) => byId.get(dealId) ?? [])
    return own.length === 0 ? NO_DEALS : summaryOf(own, stages)
  }
}

function summaryOf(deals: readonly Item[], stages: ReadonlyMap<string, Stage>): DealSummary {
  const open = deals.filter(({ properties }) => !isTrue(properties.hs_is_closed))
  const won = deals.filter(({ properties }) => isTrue(properties.hs_is_closed_won))
  const latest = deals.reduce<Item | null>((a, b) => (a === null || isNewer(b, a) ? b : a), null)
  const stage = textOf(latest?.properties.dealstage)
  const changes = deals.map(({ properties }) => timeOf(properties.hs_lastmodifieddate)?.getTime() ?? 0)
  return {
    values: {
      hubspot_deals: deals.length,
      hubspot_open_deals: open.length,
      hubspot_open_amount: amountOf(open),
      hubspot_closed_won_deals: won.length,
      hubspot_closed_won_amount: amountOf(won),
      hubspot_latest_deal_name: textOf(latest?.properties.dealname),
      hubspot_latest_deal_stage: stage === null ? null : (stages.get(stage)?.name ?? stage),
      hubspot_latest_deal_amount: latest === null ? null : numberOf(latest.properties.amount),
      hubspot_latest_deal_close_date: textOf(latest?.properties.closedate),
    },
    changedAt: changes.length === 0 ? null : new Date(Math.max(...changes)),
  }
}

/** Ids break ties, because HubSpot's ids increase. */
function isNewer(one: Item, other: Item): boolean {
  const createdAt = ({ properties }: Item) => timeOf(properties.createdate)?.getTime() ?? 0
  const differenceMs = createdAt(one) - createdAt(other)
  return differenceMs === 0 ? Number(one.id) > Number(other.id) : differenceMs > 0
}

/** HubSpot sends flags as text or as booleans. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 'true'
}

export function numberOf(value: unknown): number | null {
  const text = textOf(value)
  return text !== null && Number.isFinite(Number(text)) ? Number(text) : null
}

function amountOf(deals: readonly Item[]): number {
  // Adds cents, because sums of fractions would be inexact.
  return deals.reduce((sum, { properties }) => sum + Math.round((numberOf(properties.amount) ?? 0) * 100), 0) / 100
}
