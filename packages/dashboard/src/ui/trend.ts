import type { ReactNode } from 'react'

interface TrendSeries {
  name: string
  label: string
  /** A color of the theme ("ink.6"). */
  color: string
  /** For a series that the main line is compared with. */
  isDashed?: boolean
  /** A level at the end of each day, such as members. Other series count what happened, so today's number is still rising. */
  isLevel?: boolean
}

/** The data and options of a chart of numbers by day. */
export interface Trend {
  /** A description of the numbers. */
  label: string
  /** One object per day: `date` and a number for each series. */
  data: Record<string, string | number>[]
  series: TrendSeries[]
  height?: number
  /** The label of a day in the table; default: the day itself. */
  dayLabel?: (day: string) => ReactNode
}
