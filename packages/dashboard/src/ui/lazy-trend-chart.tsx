import { Skeleton, VisuallyHidden } from '@mantine/core'
import { type ComponentProps, lazy, Suspense } from 'react'
import type { TrendChart } from './trend-chart.tsx'

const Chart = lazy(() => import('./trend-chart.tsx').then((module) => ({ default: module.TrendChart })))

/** A chart of numbers over days, with the same numbers as a table for who cannot see it. @param label what it shows. */
export function LazyTrendChart({ label, ...chart }: ComponentProps<typeof TrendChart> & { label: string }) {
  const { data, series, height = 260 } = chart
  return (
    <figure aria-label={label} style={{ margin: 0 }}>
      <div aria-hidden="true">
        <Suspense fallback={<Skeleton height={height} />}>
          <Chart {...chart} />
        </Suspense>
      </div>
      <VisuallyHidden>
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {series.map(({ name, label: heading }) => (
                <th key={name} scope="col">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.map((row) => (
              <tr key={row.date}>
                <th scope="row">{row.date}</th>
                {series.map(({ name }) => (
                  <td key={name}>{row[name]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </figure>
  )
}
