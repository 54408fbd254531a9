import type { BreakdownValue } from './breakdown.ts'
import type { AnswerTable } from './question.ts'
import type { TrendAnswer, TrendPart, TrendQuestion } from './trend.ts'

/**
 * A trend as a table: a line for each series and interval, and one without an interval for the total. A breakdown adds its
 * properties and whether the line is about all other values together; `compare` adds whether it is of the compared range.
 */
export function tableOfTrend({ breakdown = [] }: TrendQuestion, { compare, ...asked }: TrendAnswer): AnswerTable {
  const isBroken = breakdown.length > 0
  const parts = compare === undefined ? [asked] : [asked, compare]
  return {
    columns: [
      'series',
      ...breakdown,
      ...(isBroken ? ['is_others'] : []),
      ...(compare === undefined ? [] : ['is_compared']),
      'interval',
      'value',
    ],
    rows: parts.flatMap((part) =>
      linesOf(part, breakdown).flatMap(({ label, values, isOthers, figures }) =>
        [['', figures.total], ...part.intervals.map((key, at) => [key, figures.points[at]])].map((figure) => [
          label,
          ...values,
          ...(isBroken ? [isOthers] : []),
          ...(compare === undefined ? [] : [part === compare]),
          ...figure,
        ]),
      ),
    ),
  }
}

function linesOf({ series, others = [] }: TrendPart, breakdown: readonly string[]) {
  const none: BreakdownValue[] = breakdown.map(() => null)
  return [
    ...series.map(({ label, breakdown: values = none, ...figures }) => ({ label, values, isOthers: false, figures })),
    ...others.map(({ label, ...figures }) => ({ label, values: none, isOthers: true, figures })),
  ]
}
