interface SparklineProps {
  values: readonly number[]
  /** A description for screen readers. */
  label: string
  width?: number
  height?: number
}

/** A small line chart for a table cell. */
export function Sparkline({ values, label, width = 96, height = 24 }: SparklineProps) {
  const max = Math.max(1, ...values)
  const step = values.length > 1 ? width / (values.length - 1) : 0
  const points = values.map(
    (value, index) => `${round(index * step)},${round(height - 2 - (value / max) * (height - 4))}`,
  )
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <title>{label}</title>
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="var(--mantine-color-ink-5)"
        strokeWidth={1.5}
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  )
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
