import { letterOf, type Meant } from '../question.ts'

interface Figures {
  label: string
}
interface Part {
  series?: readonly Figures[]
  others?: readonly Figures[]
  compare?: Part
}

/**
 * The answer to a trend whose series the service named by itself, with the letters by which the charts know them. Of series with the
 * same name that are broken down, the values are those of the first.
 */
export function lettered(question: Record<string, unknown>, answer: object): object {
  const asked = Array.isArray(question.series) ? (question.series as Meant[]) : []
  if (question.formula !== undefined) return answer
  const isBroken = Array.isArray(question.breakdown) && question.breakdown.length > 0
  const named = asked.map(labelOf)
  const letter = (each: Figures, index: number) => letterOf(isBroken ? named.indexOf(each.label) : index)
  const renamed = ({ series = [], others, ...part }: Part) => ({
    ...part,
    series: series.map((each, index) => ({ ...each, label: letter(each, index) })),
    ...(others ? { others: others.map((each) => ({ ...each, label: letterOf(named.indexOf(each.label)) })) } : {}),
  })
  const { compare, ...now } = answer as Part
  return { ...renamed(now), ...(compare ? { compare: renamed(compare) } : {}) }
}

/** As the service names a series. */
function labelOf({ label, event, types }: Meant): string {
  return label ?? event ?? types?.join(', ') ?? 'Any event'
}
