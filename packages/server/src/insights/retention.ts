import Type, { type Static } from 'typebox'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import { validationError } from '../platform/errors.ts'
import { oneOf } from '../platform/http/query-parameters.ts'
import { type AnswerInRanges, answerInRanges } from './answer-in-ranges.ts'
import { INTERVALS, intervalsOf, LongerInterval, unitOf } from './intervals.ts'
import {
  type Asked,
  compileFields,
  EventMeant,
  IntervalKey,
  QUESTION_FIELDS,
  type QuestionContext,
  readQuestion,
} from './question.ts'
import type { Range } from './range.ts'
import {
  type CohortFigures,
  peopleOfCohort,
  RETENTION_MODES,
  type RetentionQuery,
  readCohorts,
} from './retention-cohorts.ts'
import { countOfAll, SampleAnswered } from './sample.ts'

const FURTHER_MAX = 30
export const FURTHER_DEFAULT = 7

export const RETENTION_INPUT = {
  ...QUESTION_FIELDS,
  start: Type.Union([Type.Literal('first_seen'), EventMeant], {
    description:
      'What puts people into a cohort: an event, at its first time in the range, or first_seen: their first event of all lies in the range, whatever `where` says.',
  }),
  return: Type.Optional(
    Type.Union([Type.Literal('any'), EventMeant], {
      description: 'What people come back for: an event, or any. Default: any.',
    }),
  ),
  interval: oneOf(INTERVALS, 'What a cohort covers. Default: day.'),
  longer_interval: LongerInterval,
  intervals: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: FURTHER_MAX,
      description: `How many intervals after its own each cohort is followed, also beyond the range. Default: ${FURTHER_DEFAULT}.`,
    }),
  ),
  mode: oneOf(
    RETENTION_MODES,
    'on: who came back in exactly that interval; on_or_after: in it or later, up to now. Default: on.',
  ),
} as const
const Input = Type.Object(RETENTION_INPUT)
export type RetentionQuestion = Static<typeof Input>

const Cohort = Type.Object(
  {
    from: IntervalKey,
    size: Type.Integer({ description: 'How many people the cohort has.' }),
    returned: Type.Array(Type.Union([Type.Integer(), Type.Null()]), {
      description: 'How many of them came back in the first, second … interval after; null where it is not over.',
    }),
  },
  { title: 'RetentionCohort' },
)
const ANSWER = {
  cohorts: Type.Array(Cohort, { description: 'One for each interval of the range.' }),
  average: Type.Array(Type.Union([Type.Number(), Type.Null()]), {
    description: 'For each interval after: all who came back as a part of all people, of the cohorts where it is over.',
  }),
}
export const RETENTION_OUTPUT = {
  ...ANSWER,
  sample: SampleAnswered,
  compare: Type.Optional(
    Type.Object(ANSWER, { title: 'ComparedRetention', description: 'The answer for the compared range.' }),
  ),
}

export interface RetentionPart {
  cohorts: { from: string; size: number; returned: (number | null)[] }[]
  average: (number | null)[]
}

export type RetentionAnswer = AnswerInRanges<RetentionPart>

/** How many people come back after they started. @throws ServiceError 400 naming every invalid field; 403. */
export async function retention(context: QuestionContext, sent: RetentionQuestion): Promise<RetentionAnswer> {
  const { asked, queryIn } = await read(context, sent)
  return answerInRanges(asked, sent, async (range) => {
    const query = queryIn(range)
    return partOf(query, await readCohorts(query))
  })
}

/** Which number of a retention: the key of its cohort and, from 1, the interval after it; without one, the cohort itself. */
export const RetentionNumber = Type.Object(
  { cohort: IntervalKey, interval: Type.Optional(Type.Integer({ minimum: 1, maximum: FURTHER_MAX })) },
  { title: 'RetentionNumber', additionalProperties: false },
)

/**
 * The people whom a number counts, as a query with rows of `PersonRow`.
 * @throws ServiceError 400 for a number that the question's answer does not have; those of `retention`.
 */
export async function peopleOfRetention(
  context: QuestionContext,
  sent: RetentionQuestion,
  { cohort, interval }: Static<typeof RetentionNumber>,
): Promise<EventSelect> {
  const { asked, queryIn } = await read(context, sent)
  const query = queryIn(asked.range)
  const { intervals, further } = query
  const index = intervals.keys.indexOf(cohort)
  if (index < 0) {
    const [first, last] = [intervals.keys[0], intervals.keys.at(-1)]
    throw validationError([{ path: 'at.cohort', message: `must be a cohort of the answer, from ${first} to ${last}` }])
  }
  if (interval !== undefined && interval > further) {
    throw validationError([
      { path: 'at.interval', message: `must be at most ${further}, the intervals of the question` },
    ])
  }
  if (interval !== undefined && !isOver(query, index + interval)) {
    throw validationError([{ path: 'at.interval', message: 'must be over: nothing is counted in it yet' }])
  }
  return peopleOfCohort(query, index, interval ?? null)
}

async function read(
  context: QuestionContext,
  sent: RetentionQuestion,
): Promise<{ asked: Asked; queryIn: (range: Range) => RetentionQuery }> {
  const { start, return: comeback = 'any', intervals: further = FURTHER_DEFAULT, mode = 'on' } = sent
  const asked = await readQuestion(context, sent)
  const [starting, returning] = await compileFields(context, [
    ['start', start === 'first_seen' ? {} : start],
    ['return', comeback === 'any' ? {} : comeback],
  ])
  if (!starting || !returning) throw new Error('Each field that was compiled has a condition.')
  return {
    asked,
    queryIn: (range) => {
      const intervals = intervalsOf(unitOf(sent, asked), range, asked.zone, further)
      if (Array.isArray(intervals)) throw validationError(intervals)
      const isFirstOfAll = start === 'first_seen'
      return { asked, range, intervals, start: { ...starting, isFirstOfAll }, comeback: returning, further, mode }
    },
  }
}

function isOver({ asked, intervals }: RetentionQuery, index: number): boolean {
  return (intervals.starts[index + 1] ?? Number.POSITIVE_INFINITY) <= asked.now.getTime()
}

function partOf(query: RetentionQuery, found: ReadonlyMap<number, CohortFigures>): RetentionPart {
  const { intervals, further } = query
  const afters = Array.from({ length: further }, (_, index) => index + 1)
  const cohorts = intervals.keys.map((key, index) => {
    const { size = 0, returned = [] } = found.get(index) ?? {}
    const known = afters.map((after) => (isOver(query, index + after) ? (returned[after - 1] ?? 0) : null))
    return { from: key, size, returned: known }
  })
  const average = afters.map((after) => {
    const known = cohorts.filter(({ returned }) => returned[after - 1] !== null)
    const people = known.reduce((sum, { size }) => sum + size, 0)
    const back = known.reduce((sum, { returned }) => sum + (returned[after - 1] ?? 0), 0)
    return people === 0 ? null : back / people
  })
  const ofAll = (count: number) => countOfAll(count, query.asked.sample)
  const ofEverybody = cohorts.map(({ from, size, returned }) => {
    return { from, size: ofAll(size), returned: returned.map((count) => (count === null ? null : ofAll(count))) }
  })
  return { cohorts: ofEverybody, average }
}
