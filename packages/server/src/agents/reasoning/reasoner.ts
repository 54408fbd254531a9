import { ServiceError } from '../../platform/errors.ts'
import type { Check, ProposedAction } from '../action-types.ts'
import type { ContactContext } from './context.ts'
import type { MadeCall } from './model-view.ts'

/** An action, and what comparing its text with what the model knew found; a template's text is not compared. */
export type EvaluatedAction = ProposedAction & { checks?: readonly Check[] }

/** The evaluation of one contact. */
export interface Evaluation {
  reasoning: string
  actions: EvaluatedAction[]
  /** Why actions were dropped that the agent may not propose, one text each. */
  dropped: string[]
  /** What the model looked up, in order; absent if it could not. */
  toolCalls?: readonly MadeCall[]
  usage: Usage
}

export interface Usage {
  inputTokens: number
  outputTokens: number
  costUsd: number
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 }

/** Evaluates contacts and proposes actions; it executes nothing. */
export interface Reasoner {
  provider: string
  model: string | null
  /** Notes on the choice of provider for readers of the run. */
  notices: string[]
  /** Whether its prices are known; otherwise no cost cap can be enforced. */
  knowsCosts: boolean
  /** Contacts evaluated at the same time. */
  concurrency: number
  /** Contacts whose context is in memory at the same time. */
  batch: number
  /**
   * Reads what the evaluations of several contacts have in common.
   * @returns a function that evaluates one of them. It throws EvaluationError, with the usage so far, if there is no
   * usable answer.
   */
  prepare(
    contexts: readonly ContactContext[],
    now: Date,
  ): Promise<(context: ContactContext, signal: AbortSignal, reserveCost: ReserveCost) => Promise<Evaluation>>
}

/**
 * Reserves the maximum cost of a contact's evaluation, in US dollars, before each request that costs money. It waits if
 * the caps depend on requests in progress. @throws CapReached
 */
export type ReserveCost = (costUsdAtMost: number) => Promise<void>

/** A cost cap leaves nothing for this contact and those after it: the run ends with this message as its notice. */
export class CapReached extends Error {}

/** No usable answer about a contact; the run continues with the next. */
export class EvaluationError extends Error {
  readonly usage: Usage
  /** What the model had looked up by then. */
  toolCalls: readonly MadeCall[] = []

  constructor(message: string, usage: Usage = NO_USAGE, cause?: unknown) {
    super(message, { cause })
    this.name = 'EvaluationError'
    this.usage = usage
  }
}

/** A failure that the next contact would have too: the run ends with this message. */
export class RunFailure extends Error {}

const ERROR_LENGTH_MAX = 500

/** Why a contact could not be evaluated, in words for users. Anything that was not written for them is in the log. */
export function messageOf(error: unknown): string {
  const isOurs = error instanceof EvaluationError || error instanceof ServiceError
  return isOurs
    ? storable(error.message.slice(0, ERROR_LENGTH_MAX))
    : 'The contact could not be evaluated. See the log of the service.'
}

/** What quotes the model may contain characters that PostgreSQL cannot store. */
export function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').toWellFormed()
}
