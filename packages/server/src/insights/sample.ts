import Type from 'typebox'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { isInSample, sizeOfSample } from '../platform/clickhouse/people-sample.ts'
import { ServiceError } from '../platform/errors.ts'

const [SMALLEST, OFFERED] = [0.01, 0.1]

/** The field of a question. */
export const SampleAsked = Type.Optional(
  Type.Number({
    minimum: SMALLEST,
    maximum: 1,
    examples: [OFFERED],
    description:
      'Answers from this part of the people, for questions that are too expensive: 0.1 is a tenth. Counts and sums are scaled up, so they are estimates. It is always the same people. Numbers of a sample do not lead to their people.',
  }),
)

/** The field of an answer. */
export const SampleAnswered = Type.Optional(
  Type.Number({ description: 'The part of the people from which the answer is estimated. Absent: everybody counts.' }),
)

/** The condition that an event is of somebody in the sample. @param sample the part of all people, above 0 and below 1 */
export function inSample(sample: number): { where: string; parameters: QueryParameters } {
  return { where: isInSample('sample'), parameters: { sample: sizeOfSample(sample) } }
}

/** The count of all, of that in a sample. */
export function countOfAll(count: number, sample: number): number {
  return Math.round(count / sample)
}

/** The sum of all, of that in a sample. Digits after the 15th are errors of the calculation. */
export function sumOfAll(sum: number, sample: number): number {
  return Number((sum / sample).toPrecision(15))
}

/** The error of a question that was too expensive for ClickHouse: it offers a sample, or a smaller one. Any other error stays. */
export function offeringSample(error: unknown, sample: number): unknown {
  const isEngines = error instanceof ServiceError && error.code === 'query_too_expensive' && error.cause !== undefined
  if (!isEngines) return error
  const fact = 'This question reads too much. Choose a shorter range, or add conditions'
  const { cause } = error
  if (sample <= SMALLEST) return new ServiceError(400, error.code, `${fact}.`, { cause })
  const smaller = Math.max(SMALLEST, Number((sample * OFFERED).toPrecision(2)))
  const message = `must be at most ${smaller}: the answer is then estimated from that part of the people`
  return new ServiceError(
    400,
    error.code,
    `${fact}, or send "sample": ${smaller} for an estimate from a part of the people.`,
    {
      cause,
      details: [{ path: 'sample', message }],
    },
  )
}
