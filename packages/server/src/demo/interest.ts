import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from '../platform/http/app-types.ts'

const did = (type: string, more: object = {}) => ({ event: { type, within_days: 30, ...more }, operator: 'did' })
const all = (...conditions: object[]) => ({ match: 'all', conditions })
const any = (...conditions: object[]) => ({ match: 'any', conditions })

/** The name of the score that wakes an agent. */
export const INTEREST = 'interest_score'

/** What is computed of the events of each person. The score comes last, because it uses the others. */
const PROPERTIES = [
  {
    name: 'pricing_views',
    function: 'count',
    event: 'page_view',
    where: [{ property: 'url_path', operator: 'equals', value: '/pricing' }],
    within_days: 30,
  },
  { name: 'plan', function: 'last', event: 'subscription_started', property: 'data.plan' },
  {
    name: INTEREST,
    score: [
      { filter: all({ property: 'pricing_views', operator: 'gte', value: 2 }), points: 25 },
      { filter: all(did('signed_up')), points: 20 },
      {
        filter: any(
          ...['head of', 'vp ', 'chief', 'founder'].map((value) => ({
            property: 'jobtitle',
            operator: 'contains',
            value,
          })),
        ),
        points: 15,
      },
      // In the demo shop.
      { filter: all(did('video_conversion')), points: 30 },
      { filter: all(did('added_to_basket')), points: 30 },
      { filter: all({ property: 'lifecyclestage', operator: 'equals', value: 'customer' }), points: -40 },
    ],
  },
]

const POLL_MS = 200
const WAIT_MS_MAX = 60_000

/**
 * Computes how interested people are, through the API as a person would. Each property is computed for everybody before the next
 * is made, so that no score rises afterwards because of the past.
 */
export async function computeInterest(app: App, apiKey: string): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}` }
  for (const property of PROPERTIES) {
    const payload = { entity: 'contacts', ...property }
    const response = await app.inject({ method: 'POST', url: '/v1/computed-properties', headers, payload })
    if (response.statusCode !== 201) throw new Error(`The demo could not be created: ${response.body}`)
    const url = `/v1/computed-properties/${response.json().computed_property.computed_property_id}`
    const isFilling = async () => (await app.inject({ url, headers })).json().computed_property.filling as boolean
    for (const since = performance.now(); performance.now() - since < WAIT_MS_MAX && (await isFilling()); ) {
      await sleep(POLL_MS)
    }
  }
}
