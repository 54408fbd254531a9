import type { App } from '../platform/http/app-types.ts'
import { DAY_MS } from '../platform/time.ts'

const DEALS = 24
/** People who saw the prices before their deal began. */
const SEEN_DAYS_AGO = 35
const CREATED_DAYS_AGO_MAX = 34
const CREATED_DAYS_AGO_MIN = 20
const STAGES = ['Qualified', 'Demo given', 'Offer sent'] as const
const DAYS_IN_STAGE = 4
const OUTCOMES = ['won', 'open', 'won', 'lost', 'won', 'open'] as const
const AMOUNTS = [1_200, 4_800, 2_400, 12_000, 3_600]

interface Person {
  contact_id: string
  properties: { company?: string; lastname?: string }
}

/** Creates deals with people who saw the prices, as the connector of a CRM would. */
export async function createDeals(app: App, apiKey: string, now: Date): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}` }
  const before = new Date(now.getTime() - SEEN_DAYS_AGO * DAY_MS).toISOString()
  const seen = { event: { type: 'page_view', url_contains: '/pricing', before }, operator: 'did' }
  const filter = encodeURIComponent(JSON.stringify({ match: 'all', conditions: [seen] }))
  const list = await app.inject({ url: `/v1/contacts?limit=${DEALS}&filter=${filter}`, headers })
  const people = list.json().contacts as Person[]
  const payload = { events: people.flatMap((person, index) => eventsOf(person, index, now)) }
  const response = await app.inject({ method: 'POST', url: '/v1/events', headers, payload })
  if (response.statusCode !== 200 || response.json().failed > 0) {
    throw new Error(`The demo could not be created: ${response.body}`)
  }
}

function eventsOf({ contact_id, properties: { company, lastname } }: Person, index: number, now: Date) {
  const spread = CREATED_DAYS_AGO_MAX - CREATED_DAYS_AGO_MIN
  const createdAt = now.getTime() - (CREATED_DAYS_AGO_MIN + ((index * 5) % spread)) * DAY_MS
  const deal = {
    deal_id: `demo-${index + 1}`,
    deal_name: `${company ?? lastname ?? 'New'} rollout`,
    pipeline: 'New business',
    amount: AMOUNTS[index % AMOUNTS.length],
    currency: 'EUR',
  }
  const at = (days: number) => new Date(createdAt + days * DAY_MS).toISOString()
  const [first, ...later] = STAGES
  const outcome = OUTCOMES[index % OUTCOMES.length]
  const last = { stage: STAGES.at(-1) }
  return [
    { contact_id, event: 'deal_created', timestamp: at(0), data: { ...deal, stage: first } },
    ...later.map((stage, step) => ({
      contact_id,
      event: 'deal_stage_changed',
      timestamp: at((step + 1) * DAYS_IN_STAGE),
      data: { ...deal, stage, previous_stage: STAGES[step] },
    })),
    ...(outcome === 'open'
      ? []
      : [
          {
            contact_id,
            event: `deal_${outcome}`,
            timestamp: at(STAGES.length * DAYS_IN_STAGE),
            data: { ...deal, ...last },
          },
        ]),
  ]
}
