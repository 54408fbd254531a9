import type { ProposedAction } from '../action-types.ts'
import type { ContactContext } from './context.ts'

/** What came of looking at one contact. */
export interface Evaluation {
  reasoning: string
  actions: ProposedAction[]
  /** Actions that were left out because the agent may not propose them: their number, and why. */
  dropped: string[]
  usage: Usage
}

export interface Usage {
  inputTokens: number
  outputTokens: number
  costUsd: number
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 }

/** Looks at contacts and proposes; it does nothing else. */
export interface Reasoner {
  provider: string
  model: string | null
  /** What whoever reads the run should know of the choice. */
  notices: string[]
  /** Whether what it counts as costs is what it costs; without that no cap could hold. */
  knowsCosts: boolean
  /** Contacts that are looked at at once. */
  concurrency: number
  /** Contacts whose context is held in memory at once. */
  batch: number
  /**
   * @param contexts contacts that are looked at one by one afterwards, so that what all need is asked once.
   * @returns the look at one of them. It throws when there is no usable answer; usage so far is in the error.
   */
  prepare(
    contexts: readonly ContactContext[],
    now: Date,
  ): Promise<(context: ContactContext, signal: AbortSignal, hold: Hold) => Promise<Evaluation>>
}

/**
 * Asked before anything that costs money: sees to it that what the look at a contact has cost and may still cost, in US
 * dollars, stays under the caps, and waits where that depends on what others have begun. @throws CapReached
 */
export type Hold = (costUsdAtMost: number) => Promise<void>

/** There is no money left for the contact, nor for those after it: the run ends with this message as its notice. */
export class CapReached extends Error {}

/** No usable answer about a contact; the run goes on with the next. */
export class EvaluationError extends Error {
  readonly usage: Usage

  constructor(message: string, usage: Usage = NO_USAGE, cause?: unknown) {
    super(message, { cause })
    this.name = 'EvaluationError'
    this.usage = usage
  }
}

/** Nothing that the next contact would not meet too: the run ends with this message. */
export class RunFailure extends Error {}
