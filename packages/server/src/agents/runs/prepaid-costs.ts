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
  /** Of the answers that are complete, and of those that are awaited, of all that are `beside` each other. */
  readonly #run: { spentUsd: number; reservedUsd: number }
  /** Of the answer that is awaited. */
  #reservedUsd = 0

  constructor(tenant: Tenant, caps: CostCaps, now: Date, run = { spentUsd: 0, reservedUsd: 0 }) {
    this.#tenant = tenant
    this.#caps = caps
    this.#now = now
    this.#run = run
  }

  /** The costs of answers that are awaited at the same time as these, under the same caps. */
  beside(): PrepaidCosts {
    return new PrepaidCosts(this.#tenant, this.#caps, this.#now, this.#run)
  }

  /** @throws CapReached */
  async reserve(usd: number): Promise<void> {
    const { perRun, perMonth } = this.#caps
    const before = this.#reservedUsd
    const spent = this.#run.spentUsd + this.#run.reservedUsd - before
    if (perRun !== null && spent + usd > perRun) {
      throw new CapReached(capNotice({ name: "The run's", usd: perRun, spent }, usd))
    }
    // Held before the transaction, so that answers beside this one count it.
    this.#hold(usd)
    try {
      await this.#tenant.transaction(async (tx) => {
        await lock(tx.db, 'model_costs', tx.id)
        if (perMonth !== null) {
          const reserved = await reservedByAll(tx)
          const spent = (await costOfMonth(tx, this.#now)) - before + reserved
          if (spent + usd > perMonth) {
            throw new CapReached(capNotice({ name: 'The monthly', usd: perMonth, spent }, usd))
          }
        }
        await spend(tx, usd - before, this.#now)
      })
    } catch (error) {
      this.#hold(before)
      throw error
    }
  }

  #hold(usd: number): void {
    this.#run.reservedUsd += usd - this.#reservedUsd
    this.#reservedUsd = usd
  }

  /** Replaces what is reserved for an answer with what it cost. */
  async charge(costUsd: number): Promise<void> {
    await spend(this.#tenant, costUsd - this.#reservedUsd, this.#now)
    this.#run.spentUsd += costUsd
    this.#hold(0)
  }
}
