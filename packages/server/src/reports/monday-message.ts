import { estimateWords, figureWords } from '../insights/headline.ts'
import { headlineOf, type InsightKind } from '../insights/kinds.ts'
import type { Values } from '../operations/declare.ts'

/** A report of the mail, and what the service found. */
export interface Line {
  report: { name: string; kind: InsightKind; question: Values }
  answer: Values | null
  error: { message: string } | null
}

/** The mail about a dashboard: the main figure of each report in a week, beside the week before. */
export function mailOf({
  name,
  link,
  unsubscribeUrl,
  week,
  lines,
}: {
  name: string
  link: string
  unsubscribeUrl: string
  week: { date_from: string; date_to: string }
  lines: readonly Line[]
}): { subject: string; text: string } {
  const title = inOneLine(name)
  const figures = lines.length === 0 ? 'The dashboard shows no reports.' : lines.map(sentenceOf).join('\n')
  return {
    subject: `${title}: the week from ${week.date_from}`,
    text: `${title}\nThe week from ${week.date_from} to ${week.date_to}, beside the week before.\n\n${figures}\n\nOpen the dashboard: ${link}\n\nYou get this mail each Monday because you asked for it. To stop it: ${unsubscribeUrl}`,
  }
}

/** `Sign-ups: 1,204, up 12% from 1,075.` */
function sentenceOf({ report, answer, error }: Line): string {
  const name = inOneLine(report.name)
  if (answer === null) return `${name}: no figure. ${error?.message ?? ''}`.trim()
  const { value, before, isShare, noun } = headlineOf(report, answer)
  if (value === null) return `${name}: no figure in this week.`
  const shown = [figureWords(value, isShare), noun].filter(Boolean).join(' ')
  return `${name}: ${shown}, ${changeOf(value, before ?? null, isShare)}${estimateWords(answer.sample)}.`
}

/** A share changes in points, which `up from 29%` says best; of 0, there is no percentage. */
function changeOf(value: number, before: number | null, isShare: boolean): string {
  if (before === null) return 'no figure in the week before'
  if (value === before) return 'as in the week before'
  const direction = value > before ? 'up' : 'down'
  const from = `from ${figureWords(before, isShare)}`
  const percent = isShare || before <= 0 ? 0 : Math.round((Math.abs(value - before) / before) * 100)
  return percent === 0 ? `${direction} ${from}` : `${direction} ${figureWords(percent, false)}% ${from}`
}

function inOneLine(name: string): string {
  return name.replaceAll(/\s+/g, ' ')
}
