import { formatNumber } from '../ui/format.ts'
import { formatFigure, formatLength, formatShare } from './axis.ts'
import type { WebAnswer } from './web-question.ts'

/** The figures of all visits together, each of which the chart can show. */
export const FIGURES = ['people', 'visits', 'page_views', 'views_per_visit', 'bounce_rate', 'visit_seconds'] as const
export type Figure = (typeof FIGURES)[number]

/** The figures of an answer, or of what it is compared with. */
type Figures = Pick<WebAnswer, 'totals' | 'points'>
type Value = number | null | undefined

const FORMATS: Record<Figure, (value: Value) => string> = {
  people: whole,
  visits: whole,
  page_views: whole,
  views_per_visit: formatFigure,
  bounce_rate: formatShare,
  visit_seconds: formatLength,
}

export function formatOf(figure: Figure): (value: Value) => string {
  return FORMATS[figure]
}

/** Figures where less is better. */
export const LESS_IS_BETTER: ReadonlySet<Figure> = new Set(['bounce_rate'])

/** A figure in each interval. */
export function pointsOf({ points }: Pick<Figures, 'points'>, figure: Figure): (number | null)[] {
  if (figure !== 'views_per_visit') return points[figure]
  return points.visits.map((visits, index) => (visits === 0 ? null : (points.page_views[index] ?? 0) / visits))
}

export function isNothing({ totals, compare }: WebAnswer): boolean {
  return totals.page_views === 0 && (compare?.totals.page_views ?? 0) === 0
}

function whole(value: Value): string {
  return value === null || value === undefined ? formatFigure(value) : formatNumber(value)
}
