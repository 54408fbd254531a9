import type { ReactNode } from 'react'

interface TrendSeries {
  name: string
  label: string
  /** A colour of the theme ("ink.6"). */
  color: string
  /** For what stands beside the main line to compare it with. */
  isDashed?: boolean
}

/** Numbers over days, and how they are shown. */
export interface Trend {
  /** What the numbers say, in words. */
  label: string
  /** One object a day: `date` and a number for each series. */
  data: Record<string, string | number>[]
  series: TrendSeries[]
  height?: number
  /** What stands for a day beside its numbers; the day itself where nothing is given. */
  dayLabel?: (day: string) => ReactNode
}
