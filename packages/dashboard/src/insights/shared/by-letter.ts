import type { Result } from '../../api/client.ts'
import type { TrendQuestion } from '../question.ts'
import { letterOf } from '../question.ts'

type Answer = Result<'insightTrend'>
type Part = Pick<Answer, 'series' | 'others'>
type Named = { label: string; breakdown?: unknown }

/** What the service calls a series without a name. */
const ANY_EVENT = 'Any event'

/**
 * A trend whose series are named by their letters, as in answers to questions of the dashboard. The service names them by label and
 * event, and lists them in the order of the question, each with its values; a value that occurs again is of the next one.
 */
export function byLetter(question: TrendQuestion, { compare, ...answer }: Answer): Answer {
  if (question.formula !== undefined) return compare ? { ...answer, compare } : answer
  const named = <Each extends Part>(part: Each): Each => ({
    ...part,
    series: lettered(question, part.series),
    ...(part.others ? { others: lettered(question, part.others) } : {}),
  })
  return { ...named(answer), ...(compare ? { compare: named(compare) } : {}) }
}

function lettered<Each extends Named>({ series }: TrendQuestion, figures: readonly Each[]): Each[] {
  const names = series.map(({ label, event, types }) => label ?? event ?? types?.join(', ') ?? ANY_EVENT)
  let index = 0
  let seen = new Set<string>()
  return figures.map((each) => {
    const value = JSON.stringify(each.breakdown ?? null)
    while (index < names.length - 1 && (names[index] !== each.label || seen.has(value))) {
      index++
      seen = new Set()
    }
    seen.add(value)
    return { ...each, label: letterOf(index) }
  })
}
