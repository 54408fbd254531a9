import { firstCharacters } from '../platform/characters.ts'
import { EMPTY_CALL } from '../sites/ingestion/call.ts'
import type { SourceCall } from './connector.ts'

const NAME_LENGTH_MAX = 500

/** A deal, or an opportunity, of a CRM. */
export interface Deal {
  id: string
  /** The CRM's id of its main contact. Only that one gets the events, because revenue would count twice otherwise. */
  contact: string
  name: string | null
  pipeline: string | null
  amount: number | null
  currency: string | null
  /** null if the CRM does not say. */
  createdAt: Date | null
  /** The name of the stage in which it was created; null if unknown. */
  firstStage: string | null
  /** The moves between open stages. Winning and losing are events of their own. */
  moves: readonly Move[]
  /** null: it is open. */
  outcome: Outcome | null
}

interface Move {
  /** The CRM's id of the stage. */
  stageId: string
  stage: string
  previous: string | null
  at: Date
}

interface Outcome {
  status: 'won' | 'lost'
  /** The name of the stage, if the CRM closes deals by a stage. */
  stage: string | null
  previous: string | null
  at: Date
}

/** A stage that a deal entered. */
export interface StageEntry {
  stageId: string
  stage: string
  isClosed: boolean
  at: Date
}

/**
 * The moves of a deal with a complete history, oldest first. The history may repeat a stage, such as when the amount changed.
 * @returns also the last stage that it entered, with the one before; null without a history.
 */
export function followStages(history: readonly StageEntry[]): Pick<Deal, 'firstStage' | 'moves'> & {
  last: (StageEntry & Pick<Move, 'previous'>) | null
} {
  const sorted = history.toSorted((one, other) => one.at.getTime() - other.at.getTime())
  const entered = sorted
    .filter(({ stageId }, index) => sorted[index - 1]?.stageId !== stageId)
    .map((entry, index, all) => ({ ...entry, previous: all[index - 1]?.stage ?? null }))
  const moves = entered.slice(1).filter(({ isClosed }) => !isClosed)
  return { firstStage: entered[0]?.stage ?? null, moves, last: entered.at(-1) ?? null }
}

/**
 * The events of a deal: `deal_created`, `deal_stage_changed`, `deal_won`, `deal_lost`. Their ids name the deal, and those of
 * moves the stage and time. A deal is won and lost at most once, however often it is reopened, so revenue is counted once.
 */
export function callsOfDeal(deal: Deal): SourceCall[] {
  const { id, createdAt, firstStage, moves, outcome } = deal
  return [
    ...(createdAt === null ? [] : [callOf(deal, { event: 'deal_created', id, at: createdAt, stage: firstStage })]),
    ...moves.map(({ stageId, stage, previous, at }) =>
      callOf(deal, {
        event: 'deal_stage_changed',
        id: `${id}/${stageId}/${at.toISOString()}`,
        at,
        stage,
        previous,
      }),
    ),
    ...(outcome === null ? [] : [callOf(deal, { event: `deal_${outcome.status}`, id, ...outcome })]),
  ]
}

function callOf(
  { id: dealId, contact, name, pipeline, amount, currency }: Deal,
  {
    event,
    id,
    at,
    stage,
    previous = null,
  }: { event: string; id: string; at: Date; stage: string | null; previous?: string | null },
): SourceCall {
  const fields = {
    deal_id: dealId,
    deal_name: name === null ? null : firstCharacters(name, NAME_LENGTH_MAX),
    pipeline,
    stage,
    previous_stage: previous,
    amount,
    currency: amount === null ? null : currency,
  }
  const recorded = {
    event,
    timestamp: at.toISOString(),
    data: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)),
    sentId: null,
    sessionId: null,
    context: {},
    clockCorrection: 0,
  }
  return { id, contact, isOfDeal: true, call: { ...EMPTY_CALL, event: recorded } }
}
