import { lock } from '../../platform/postgres/locks.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { CapReached } from '../reasoning/reasoner.ts'
import { type CostCaps, costOfMonth, spend } from './costs.ts'
import { capNotice, reservedByAll } from './reserve-cost.ts'

/**
 * The costs of a dry run or a question. Neither has a row that could store a reservation, so the maximum cost of an answer
 * is added to the cost of the month before the model is called, and the difference is subtracted afterwards. If the
 * process dies in between, the month counts too much rather than too little.
 */
export class PrepaidCosts {
  readonly #tenant: Tenant
  readonly #caps: CostCaps
  readonly #now: Date
  /** Of the answers that are complete. */
  #spentUsd = 0
  /** Of the answer that is awaited. */
  #reservedUsd = 0

  constructor(tenant: Tenant, caps: CostCaps, now: Date) {
    this.#tenant = tenant
    this.#caps = caps
    this.#now = now
  }

  /** @throws CapReached */
  async reserve(usd: number): Promise<void> {
    const { perRun, perMonth } = this.#caps
    if (perRun !== null && this.#spentUsd + usd > perRun) {
      throw new CapReached(capNotice({ name: "The run's", usd: perRun, spent: this.#spentUsd }, usd))
    }
    await this.#tenant.transaction(async (tx) => {
      await lock(tx.db, 'model_costs', tx.id)
      if (perMonth !== null) {
        const reserved = await reservedByAll(tx)
        const spent = (await costOfMonth(tx, this.#now)) - this.#reservedUsd + reserved
        if (spent + usd > perMonth) throw new CapReached(capNotice({ name: 'The monthly', usd: perMonth, spent }, usd))
      }
      await spend(tx, usd - this.#reservedUsd, this.#now)
    })
    this.#reservedUsd = usd
  }

  /** Replaces what is reserved for an answer with what it cost. */
  async charge(costUsd: number): Promise<void> {
    await spend(this.#tenant, costUsd - this.#reservedUsd, this.#now)
    this.#spentUsd += costUsd
    this.#reservedUsd = 0
  }
}
