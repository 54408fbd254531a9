import { AreaChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { formatNumber } from './text.tsx'

export interface TrendSeries {
  name: string
  label: string
  /** A colour of the theme ("ink.6"). */
  color: string
  isDashed?: boolean
}

interface TrendChartProps {
  /** One object a day; the key of the axis is `date`. */
  data: Record<string, string | number>[]
  series: TrendSeries[]
  height?: number
}

/** Numbers over days. Loaded only where it is shown (`LazyTrendChart`): drawing is the heaviest part of the pages. */
export function TrendChart({ data, series, height = 260 }: TrendChartProps) {
  return (
    <AreaChart
      h={height}
      data={data}
      dataKey="date"
      curveType="monotone"
      withDots={false}
      strokeWidth={2}
      fillOpacity={0.12}
      gridAxis="x"
      tickLine="none"
      withLegend={series.length > 1}
      legendProps={{ verticalAlign: 'top', align: 'right', height: 28 }}
      valueFormatter={formatNumber}
      series={series.map(({ name, label, color, isDashed }) => ({
        name,
        label,
        color,
        ...(isDashed ? { strokeDasharray: '4 4' } : {}),
      }))}
      areaChartProps={{ accessibilityLayer: true, margin: { top: 4, right: 4, left: 0, bottom: 0 } }}
      areaProps={{ isAnimationActive: false }}
      xAxisProps={{ tickFormatter: shortDay, minTickGap: 24, tickMargin: 8 }}
      yAxisProps={{ width: 44, allowDecimals: false }}
    />
  )
}

const SHORT = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

function shortDay(date: string): string {
  const at = new Date(date)
  return Number.isNaN(at.getTime()) ? date : SHORT.format(at)
}
