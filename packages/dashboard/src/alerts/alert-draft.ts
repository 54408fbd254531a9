import type { Alert, AlertCondition, Report } from '../api/types.ts'
import { formatFigure, formatShare } from '../insights/axis.ts'
import { isFunnel } from '../insights/funnel-question.ts'
import { isTrend } from '../insights/question.ts'
import { isRetention } from '../insights/retention-question.ts'
import { text } from './text.ts'

type Figure = (typeof text.form.figures)[number]['value']

/** What the form of an alert has. */
export interface AlertDraft {
  name: string
  reportId: string
  series: string
  running: boolean
  step: number
  figure: Figure
  interval: number
  operator: AlertCondition['operator']
  /** As it was typed; of a share, in percent. */
  limit: string
  isPercent: boolean
  checkEvery: Alert['check_every']
  mailTo: string[]
}

const NUMBER = { series: 'A', running: false, step: 2, figure: 'from_first', interval: 1 } as const

export function newDraft(reportId: string): AlertDraft {
  return {
    ...NUMBER,
    ...{ name: '', reportId, operator: 'below', limit: '', isPercent: true, checkEvery: 'day', mailTo: [] },
  }
}

/** @param report that of the alert */
export function draftOf(alert: Alert, { kind }: Report): AlertDraft {
  const { name, report_id: reportId, at, condition, check_every: checkEvery, mail_to: mailTo } = alert
  const { operator, value, percent: isPercent = false } = condition
  const number = {
    series: typeof at.series === 'string' ? at.series : NUMBER.series,
    running: at.running === true,
    step: typeof at.step === 'number' ? at.step : NUMBER.step,
    figure: text.form.figures.find((each) => each.value === at.figure)?.value ?? 'count',
    interval: typeof at.interval === 'number' ? at.interval : NUMBER.interval,
  }
  const isInPercent = isShare(kind, number.figure) && !isPercent
  // 0.07 * 100 is 7.000000000000001.
  const limit = String(isInPercent ? Number((value * 100).toPrecision(12)) : value)
  return { ...number, name, reportId, operator, limit, isPercent, checkEvery, mailTo }
}

/** Whether the number is a part of 1. */
export function isShare(kind: Report['kind'], figure: unknown): boolean {
  return kind === 'retention' || (kind === 'funnel' && (figure === 'from_first' || figure === 'from_previous'))
}

/** What is watched; null while something is missing, or if the number cannot be watched. */
export function watchedOf(draft: AlertDraft, { report_id, kind, question }: Report) {
  const at = numberOf(draft, kind, question)
  const limit = Number(draft.limit)
  if (at === null || draft.limit.trim() === '' || !Number.isFinite(limit)) return null
  const { operator, isPercent } = draft
  const percent = operator === 'changed_by' && isPercent
  const value = isShare(kind, draft.figure) && !percent ? limit / 100 : limit
  return { report_id, at, condition: { operator, value, ...(percent ? { percent } : {}) } }
}

function numberOf(draft: AlertDraft, kind: Report['kind'], question: Report['question']): Alert['at'] | null {
  const { series, running, step, figure, interval, operator } = draft
  if (kind === 'trend' && isTrend(question)) {
    return {
      ...(question.formula === undefined ? { series } : {}),
      ...(running && operator === 'above' ? { running } : {}),
    }
  }
  if (kind === 'funnel' && isFunnel(question)) return { step, figure }
  return kind === 'retention' && isRetention(question) ? { interval } : null
}

/** Whether the number of an alert is a part of 1: only that of a retention has an interval. */
export function isPartOf({ at }: Alert): boolean {
  return at.interval !== undefined || at.figure === 'from_first' || at.figure === 'from_previous'
}

/** `Below 10`, `Above 20%`. */
export function conditionWords(alert: Alert): string {
  const { operator, value, percent } = alert.condition
  return text.condition(operator, percent ? formatShare(value / 100) : figureWords(value, isPartOf(alert)))
}

export function figureWords(value: number | null, isPart: boolean): string {
  return isPart ? formatShare(value) : formatFigure(value)
}
