import type { FunnelAnswer, FunnelPart, FunnelQuestion } from './funnel.ts'
import type { PathsFound } from './path-links.ts'
import type { PathsAnswer } from './paths.ts'
import type { AnswerTable } from './question.ts'
import type { RetentionAnswer, RetentionPart } from './retention.ts'
import type { WebAnswer, WebPart } from './web.ts'
import { WEB_LISTS } from './web-visits.ts'

/*
 * Answers as tables, for files. With `compare`, `is_compared` says that a line is of the compared range.
 */

type Cell = string | number | boolean | null

function ofParts<Part>(
  { compare, ...asked }: Part & { compare?: Part },
  columns: readonly string[],
  linesOf: (part: Part) => Cell[][],
): AnswerTable {
  const ofAsked = linesOf(asked as Part)
  if (compare === undefined) return { columns: [...columns], rows: ofAsked }
  const marked = (lines: Cell[][], isCompared: boolean) => lines.map((line) => [isCompared, ...line])
  return { columns: ['is_compared', ...columns], rows: [...marked(ofAsked, false), ...marked(linesOf(compare), true)] }
}

/** A line for each step. Those of a breakdown's values follow, with the values, and without them for all others together. */
export function tableOfFunnel({ breakdown = [] }: FunnelQuestion, answer: FunnelAnswer): AnswerTable {
  const isBroken = breakdown.length > 0
  const columns = ['step', 'label', 'count', 'from_first', 'from_previous', 'median_seconds']
  const linesOf = ({ steps, groups = [] }: FunnelPart) => {
    const all = isBroken
      ? [{ of: 'all', values: breakdown.map(() => null), steps }]
      : [{ of: 'all', values: [], steps }]
    const parts = groups.map((group) => ({
      of: group.breakdown ? 'value' : 'others',
      values: group.breakdown ?? breakdown.map(() => null),
      steps: group.steps,
    }))
    return [...all, ...parts].flatMap(({ of, values, steps: some }) =>
      some.map((step, index): Cell[] => [
        ...(isBroken ? [of, ...values] : []),
        index + 1,
        ...[step.label, step.count, step.from_first, step.from_previous, step.median_seconds],
      ]),
    )
  }
  return ofParts<FunnelPart>(answer, [...(isBroken ? ['part', ...breakdown] : []), ...columns], linesOf)
}

/** A line for each cohort, and one without a cohort for the average. */
export function tableOfRetention(_question: unknown, answer: RetentionAnswer): AnswerTable {
  const columns = ['cohort', 'size', ...answer.average.map((_, index) => `interval_${index + 1}`)]
  return ofParts<RetentionPart>(answer, columns, ({ cohorts, average }) => [
    ...cohorts.map(({ from, size, returned }): Cell[] => [from, size, ...returned]),
    ['', null, ...average],
  ])
}

/** A line for each link. */
export function tableOfPaths(_question: unknown, answer: PathsAnswer): AnswerTable {
  return ofParts<PathsFound>(answer, ['step', 'from', 'to', 'count'], ({ links }) =>
    links.map(({ step, from, to, count }): Cell[] => [step, from, to, count]),
  )
}

const WEB_FIGURES = ['people', 'visits', 'page_views', 'bounce_rate', 'visit_seconds'] as const

/** A line for all visits, for each interval, for each row of each list, and for each goal. */
export function tableOfWeb(_question: unknown, answer: WebAnswer): AnswerTable {
  const columns = ['list', 'value', ...WEB_FIGURES, 'events', 'rate']
  return ofParts<WebPart>(answer, columns, ({ intervals, totals, points, lists, goals }) => [
    ['total', null, ...WEB_FIGURES.map((name) => totals[name]), null, null],
    ...intervals.map((key, at): Cell[] => [
      'interval',
      key,
      ...WEB_FIGURES.map((name) => points[name][at] ?? null),
      ...[null, null],
    ]),
    ...WEB_LISTS.flatMap((list) =>
      (lists[list] ?? []).map((row): Cell[] => [list, row.value, ...WEB_FIGURES.map((name) => row[name]), null, null]),
    ),
    ...goals.map(({ label, people, events, rate }): Cell[] => [
      ...['goal', label, people, null, null, null, null],
      ...[events, rate],
    ]),
  ])
}
