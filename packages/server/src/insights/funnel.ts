import Type, { type Static } from 'typebox'
import { STEPS_MAX, stepsThatShare, windowMsOf } from '../conditions/attempts.ts'
import { WITHIN_UNITS, type Within } from '../conditions/language.ts'
import { ServiceError } from '../platform/errors.ts'
import { oneOf } from '../platform/http/query-parameters.ts'
import { WORD } from '../platform/personal.ts'
import { type AnswerInRanges, answerInRanges } from './answer-in-ranges.ts'
import { BreakdownNames, type BreakdownValue, breakdownBy, namesOf, ValueInAnswer } from './breakdown.ts'
import { FUNNEL_ORDERS } from './funnel-attempts.ts'
import {
  type FunnelQuery,
  type StepFigures,
  setsThatShare,
  stepsBeyond,
  stepsByKey,
  stepsOfAll,
} from './funnel-figures.ts'
import {
  type Asked,
  compileMeant,
  EventMeant,
  Label,
  labelOf,
  QUESTION_FIELDS,
  type QuestionContext,
  readQuestion,
} from './question.ts'
import type { Range } from './range.ts'
import { countOfAll, SampleAnswered } from './sample.ts'

const EXCLUDED_MAX = 10
const LIMIT_DEFAULT = 10
const WINDOW_MAX = 10_000
/** In any order, the work doubles with each step that shares events with others. */
const SHARING_MAX = 6

export const FUNNEL_INPUT = {
  ...QUESTION_FIELDS,
  steps: Type.Array(EventMeant, {
    minItems: 2,
    maxItems: STEPS_MAX,
    description: 'What is done, one after another.',
  }),
  window: Type.Object(
    {
      value: Type.Integer({ minimum: 1, maximum: WINDOW_MAX }),
      unit: Type.Unsafe<Within['unit']>({ type: 'string', enum: WITHIN_UNITS }),
    },
    {
      title: 'FunnelWindow',
      additionalProperties: false,
      description: 'The most time from the first step to the last. A day is 24 hours.',
    },
  ),
  order: Type.Optional(
    oneOf(
      FUNNEL_ORDERS,
      'ordered: other events may be between two steps. strict: none may. any: the steps may be done in any order, and step k counts who did k of them. Default: ordered.',
    ),
  ),
  count_by: Type.Optional(
    oneOf(
      ['people', 'sessions'],
      'sessions: the steps are done within one session, and sessions are counted. Default: people.',
    ),
  ),
  exclude: Type.Optional(
    Type.Array(EventMeant, {
      maxItems: EXCLUDED_MAX,
      description: 'Events that end an attempt: steps after them do not count for it.',
    }),
  ),
  breakdown: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200, ...WORD }), {
      maxItems: 2,
      description:
        'One group for each value of these properties of the first event, such as country or data.plan, or of its contact or company, such as contact.plan or company.industry.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: LIMIT_DEFAULT,
      description: 'How many values of the breakdown have a group of their own: the largest by the first step.',
    }),
  ),
} as const
const Input = Type.Object(FUNNEL_INPUT)
export type FunnelQuestion = Static<typeof Input>

const Part = Type.Union([Type.Number(), Type.Null()])
const Steps = Type.Array(
  Type.Object(
    {
      label: Label,
      count: Type.Integer({ description: 'How many people, or sessions, reached the step.' }),
      from_first: { ...Part, description: 'The part of those at the first step, from 0 to 1; null of nobody.' },
      from_previous: { ...Part, description: 'The part of those at the step before, from 0 to 1; null of nobody.' },
      median_seconds: { ...Part, description: 'The median time from the step before; null at the first step.' },
    },
    { title: 'FunnelStep' },
  ),
)
const ANSWER = {
  steps: Steps,
  groups: Type.Optional(
    Type.Array(
      Type.Object(
        {
          breakdown: Type.Optional(
            Type.Array(ValueInAnswer, {
              description: 'The value of each property; absent for all other values together.',
            }),
          ),
          steps: Steps,
        },
        { title: 'FunnelGroup' },
      ),
      { description: 'With `breakdown`, the steps of each value.' },
    ),
  ),
}
export const FUNNEL_OUTPUT = {
  ...ANSWER,
  breakdown_by: BreakdownNames,
  sample: SampleAnswered,
  compare: Type.Optional(
    Type.Object(ANSWER, { title: 'ComparedFunnel', description: 'The answer for the compared range.' }),
  ),
}

interface Step {
  label: string
  count: number
  from_first: number | null
  from_previous: number | null
  median_seconds: number | null
}
export interface FunnelPart {
  steps: Step[]
  groups?: { breakdown?: BreakdownValue[]; steps: Step[] }[]
}

export type FunnelAnswer = AnswerInRanges<FunnelPart> & { breakdown_by?: string[] }

/** How many people went through steps. @throws ServiceError 400 naming every invalid field, `hidden_property`; 403. */
export async function funnel(context: QuestionContext, sent: FunnelQuestion): Promise<FunnelAnswer> {
  const { asked, queryIn } = await readFunnel(context, sent)
  const answer = await answerInRanges(asked, sent, async (range) => answerIn(await queryIn(range), sent))
  return { ...answer, ...namesOf(sent.breakdown) }
}

interface ReadFunnel {
  asked: Asked
  queryIn(range: Range): Promise<FunnelQuery>
}

/** Reads a question. @throws ServiceError 400 naming every invalid field, `hidden_property`; 403. */
export async function readFunnel(context: QuestionContext, sent: FunnelQuestion): Promise<ReadFunnel> {
  const asked = await readQuestion(context, sent)
  const steps = await compileMeant(context, sent.steps, 'steps')
  const excluded = await compileMeant(context, sent.exclude ?? [], 'exclude')
  const { order = 'ordered', count_by: countBy = 'people' } = sent
  const sharing = stepsThatShare(
    sent.steps.map(({ event, types }) => (event === undefined ? (types ?? null) : [event])),
  )
  const shared = { asked, steps, excluded, order, countBy, sharing, windowMs: windowMsOf(sent.window) }
  // In any order, an attempt may begin with each step.
  const begins = order === 'any' ? steps : steps.slice(0, 1)
  const breakdown = await breakdownBy(context, { asked, meant: begins }, sent.breakdown ?? [])
  const queryIn = async (range: Range): Promise<FunnelQuery> => {
    const query = { ...shared, range, breakdown }
    if (order !== 'any' || sharing.every((set) => set.length === 1)) return query
    const sets = await setsThatShare(query)
    if (sets.some((set) => set.length > SHARING_MAX)) throw sharesTooMuch()
    return { ...query, sharing: sets }
  }
  return { asked, queryIn }
}

function sharesTooMuch(): ServiceError {
  const message = `In any order, at most ${SHARING_MAX} steps can have events in common. Add conditions, so that an event is of fewer steps, or choose another order.`
  return new ServiceError(400, 'query_too_expensive', message)
}

async function answerIn(query: FunnelQuery, sent: FunnelQuestion): Promise<FunnelPart> {
  const labelled = (figures: readonly StepFigures[]) => sharesOf(sent.steps.map(labelOf), figures, query.asked.sample)
  const { breakdown } = query
  if (breakdown === null) return { steps: labelled(await stepsOfAll(query)) }
  const limit = sent.limit ?? LIMIT_DEFAULT
  const { all, ofKeys } = await stepsByKey(query, breakdown, limit + 1)
  const largest = ofKeys.slice(0, limit)
  const groups: NonNullable<FunnelPart['groups']> = largest.map(({ key, steps }) => ({
    breakdown: breakdown.valuesOfKey(key),
    steps: labelled(steps),
  }))
  if (ofKeys.length > limit) {
    const keys = largest.map(({ key }) => key)
    groups.push({ steps: labelled(await stepsBeyond(query, breakdown, keys)) })
  }
  return { steps: labelled(all), groups }
}

function sharesOf(labels: readonly string[], figures: readonly StepFigures[], sample: number): Step[] {
  const countAt = (step: number) => figures[step]?.count ?? 0
  const part = (count: number, whole: number) => (whole === 0 ? null : count / whole)
  return labels.map((label, step) => ({
    label,
    count: countOfAll(countAt(step), sample),
    from_first: part(countAt(step), countAt(0)),
    from_previous: part(countAt(step), countAt(Math.max(step - 1, 0))),
    median_seconds: secondsOf(figures[step]?.medianMs ?? null),
  }))
}

function secondsOf(ms: number | null): number | null {
  return ms === null ? null : ms / 1000
}
