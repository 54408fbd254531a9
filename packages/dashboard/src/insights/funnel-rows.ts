import type { FunnelStep } from '../api/types.ts'
import { formatDuration } from '../ui/format.ts'
import { formatShare } from './axis.ts'
import { text } from './text.ts'

const words = text.funnel
const DAY = 86_400

/** A step of a funnel as it is drawn. */
export interface FunnelRow {
  name: string
  step: FunnelStep
  /** The same step in the compared range. */
  before?: FunnelStep | undefined
}

/** How many went on to a step, and how long they took: "37.5% went on, half of them within 2 h". Nothing for the first. */
export function wentOn({ from_previous: share, median_seconds: median }: FunnelStep, index: number): string {
  if (index === 0 || share === null) return ''
  return words.wentOn(formatShare(share), median === null ? null : timeWords(median))
}

/** "under 1 s", "5 min", "2 h 5 min", "3.5 days" */
function timeWords(seconds: number): string {
  return seconds < 2 * DAY
    ? formatDuration(seconds) || words.underSecond
    : words.days(Math.round((seconds / DAY) * 10) / 10)
}

/** How many reached a step and not the next one. */
export function droppedAt(steps: readonly FunnelStep[], index: number): number {
  const [step, next] = [steps[index], steps[index + 1]]
  return step && next ? step.count - next.count : 0
}
