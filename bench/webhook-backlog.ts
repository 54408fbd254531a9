/**
 * Makes a tenant that has subscribed a receiver, and deliveries for it, all in one transaction: a service that runs on
 * the same data directory meets them all at once.
 */
import { openSession } from '../packages/server/src/cli/session.ts'
import { readConfig } from '../packages/server/src/config.ts'
import type { EventRecord } from '../packages/server/src/journal/event-record.ts'
import { openSecretBox } from '../packages/server/src/platform/crypto/secret-key.ts'
import { newId } from '../packages/server/src/platform/ids.ts'
import { createOutbound } from '../packages/server/src/platform/outbound/client.ts'
import { sampleSession, sampleVisitor } from '../packages/server/src/seed/journeys.ts'
import { createRandom } from '../packages/server/src/seed/random.ts'
import { addDomain } from '../packages/server/src/tenants/domains.ts'
import { createTenant } from '../packages/server/src/tenants/tenants.ts'
import { addDeliveries } from '../packages/server/src/webhooks/match.ts'
import { createSubscription } from '../packages/server/src/webhooks/subscriptions.ts'

const [site = '', url = '', count = '0', subscriptions = '1'] = process.argv.slice(2)
const BATCH = 1_000

const config = readConfig(process.env)
const session = await openSession(config)
const { database } = session.stores
const now = new Date()
const tenantId = await createTenant(database, 'Webhooks', now)
await addDomain(database, tenantId, site, true, now)
const tenant = session.tenant(tenantId)
const outbound = createOutbound({ allowPrivate: true })
const dependencies = { secrets: await openSecretBox(config), outbound }
for (let n = 0; n < Number(subscriptions); n++) {
  await createSubscription(tenant, dependencies, { event: `queued_${n}`, url: `${url}/queued` }, now)
}
await createSubscription(tenant, dependencies, { event: 'page_view', url: `${url}/live` }, now)
const random = createRandom(11)
await tenant.transaction(async (tx) => {
  for (let made = 0; made < Number(count); made += BATCH) {
    const events: EventRecord[] = []
    while (events.length < BATCH) {
      events.push(...sampleSession(random, tenantId, site, sampleVisitor(random, null), now.getTime() - 3_600_000))
    }
    const queued = events
      .slice(0, Math.min(BATCH, Number(count) - made))
      .map((event, index) => ({ ...event, event_id: newId(), event: `queued_${index % Number(subscriptions)}` }))
    await addDeliveries(tx, queued)
  }
})
await outbound.close()
await session.close()
