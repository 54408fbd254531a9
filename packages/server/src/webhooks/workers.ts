import type { Config } from '../config.ts'
import type { People } from '../events/people.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { Logger } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Outbound } from '../platform/outbound/client.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Stores } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { WORK_CHANNEL } from './queue/add.ts'
import { startDeliveryRetention } from './queue/retention.ts'
import { type DeliveryWorker, startDeliveryWorker } from './queue/worker.ts'

/** Sends deliveries, and deletes old ones. `queue/worker.ts` tells the life of a delivery. */
export async function startWebhookWorkers(context: {
  stores: Stores
  people: People
  outbound: Outbound
  secrets: SecretBox
  clock: Clock
  log: Logger
  metrics: Metrics
  config: Pick<Config, 'webhookRetentionDays'>
  invalidation: Pick<Invalidation, 'onNotified'>
}): Promise<DeliveryWorker> {
  const { stores, clock, log, config, invalidation } = context
  const deliveries = startDeliveryWorker(context)
  await invalidation.onNotified(WORK_CHANNEL, deliveries.wake)
  const retention = startDeliveryRetention(stores.database, config.webhookRetentionDays, clock, log)
  return {
    wake: deliveries.wake,
    stop: async () => {
      await deliveries.stop()
      await retention.stop()
    },
  }
}
