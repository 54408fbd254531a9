import { estimateWords, figureWords } from '../insights/headline.ts'
import type { SystemEvent } from '../journal/append.ts'
import type { Report } from '../reports/report-object.ts'
import { type AlertRow, sampleOf } from './alert-object.ts'
import type { Condition, Point } from './rule.ts'

/** An alert that fired, and where. */
export interface Firing {
  alert: AlertRow
  report: Report
  condition: Condition
  point: Point
}

/** The event of an alert that fired. */
export function eventOfFiring(firing: Firing, at: Date): SystemEvent {
  const { alert, report, condition, point } = firing
  const data = {
    alert_id: alert.alert_id,
    name: alert.name,
    report_id: report.report_id,
    report_name: report.name,
    interval: point.interval,
    value: point.value,
    compared: condition.operator === 'changed_by' ? point.compared : null,
    operator: condition.operator,
    limit: condition.value,
    percent: condition.percent ?? false,
    sample: sampleOf(report),
    message: sentenceOf(firing),
  }
  return { event: 'alert_triggered', at, contactId: null, data }
}

/** The mail about intervals in which an alert fired: usually one. */
export function mailOf(firings: readonly Firing[], publicUrl: string): { subject: string; text: string } | null {
  const [first] = firings
  if (!first) return null
  const { alert_id, name } = first.alert
  const link = `${publicUrl}/insights/alerts/${alert_id}`
  return {
    subject: `Alert: ${name.replaceAll(/\s+/g, ' ')}`,
    text: `${firings.map(sentenceOf).join('\n')}\n\nOpen the alert and its report: ${link}\n\nThis mail comes once, and again only after the condition was false in between.`,
  }
}

/** `Sign-ups by day: 7 in 2026-10-25, below 10.` */
function sentenceOf({ alert, report, condition, point }: Firing): string {
  const shown = (number: number | null) => figureWords(number, isPart(report, alert))
  const { operator, value: limit, percent } = condition
  const start = `${report.name}: ${shown(point.value)} in ${point.interval}`
  const estimated = estimateWords(sampleOf(report))
  if (operator !== 'changed_by') return `${start}, ${operator} ${shown(limit)}${estimated}.`
  const by = percent ? `${figureWords(limit, false)}%` : shown(limit)
  return `${start}, changed by more than ${by} from ${shown(point.compared)}${estimated}.`
}

/** Whether the number is a part of 1. */
function isPart({ kind }: Report, { at }: AlertRow): boolean {
  const figure = typeof at === 'object' && at !== null && 'figure' in at ? String(at.figure) : ''
  return kind === 'retention' || figure.startsWith('from_')
}
