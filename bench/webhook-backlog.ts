/**
 * Adds deliveries for a receiver in one transaction: a service on the same data directory finds them all at once. The first
 * call creates the tenant and its subscriptions.
 */

import { addVerifiedDomain } from '../packages/server/src/access/domains-of-tenant.ts'
import { createTenant } from '../packages/server/src/access/tenants.ts'
import { openSession } from '../packages/server/src/cli/session.ts'
import { readConfig } from '../packages/server/src/config.ts'
import type { EventRecord } from '../packages/server/src/journal/event-record.ts'
import { openSecretBox } from '../packages/server/src/platform/crypto/secret-key.ts'
import { newId } from '../packages/server/src/platform/ids.ts'
import { sampleSession, sampleVisitor } from '../packages/server/src/seed/journeys.ts'
import { createRandom } from '../packages/server/src/seed/random.ts'
import { activeSubscriptions, deliveriesOf } from '../packages/server/src/webhooks/match.ts'
import { addDeliveries } from '../packages/server/src/webhooks/queue/add.ts'
import { createSubscription } from '../packages/server/src/webhooks/subscriptions.ts'

const [site = '', url = '', count = '0', subscriptions = '1'] = process.argv.slice(2)
const BATCH = 1_000

const config = readConfig(process.env)
const session = await openSession(config, { mayCreate: true })
const { database } = session.stores
const now = new Date()
const known = await database.selectFrom('domains').select('tenant_id').where('domain', '=', site).executeTakeFirst()
const tenantId = known?.tenant_id ?? (await subscribe())
const random = createRandom(11)
await session.tenant(tenantId).transaction(async (tx) => {
  for (let made = 0; made < Number(count); made += BATCH) {
    const events: EventRecord[] = []
    while (events.length < BATCH) {
      events.push(...sampleSession(random, tenantId, site, sampleVisitor(random, null), now.getTime() - 3_600_000))
    }
    const queued = events
      .slice(0, Math.min(BATCH, Number(count) - made))
      .map((event, index) => ({ ...event, event_id: newId(), event: `queued_${index % Number(subscriptions)}` }))
    await addDeliveries(tx, deliveriesOf(queued, await activeSubscriptions(tx)))
  }
})
await session.close()

async function subscribe(): Promise<string> {
  const made = await createTenant(session.stores, { name: 'Webhooks' }, { kind: 'command_line' }, now)
  await addVerifiedDomain(session.tenant(made), site, now)
  const secrets = await openSecretBox(config)
  for (let n = 0; n < Number(subscriptions); n++) {
    const settings = { event: `queued_${n}`, url: `${url}/queued` }
    await createSubscription(session.tenant(made), secrets, settings, now)
  }
  await createSubscription(session.tenant(made), secrets, { event: 'page_view', url: `${url}/live` }, now)
  return made
}
