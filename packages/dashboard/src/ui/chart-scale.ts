/** Round values from 0 to at least `max`, about `count` of them, for the gridlines. */
export function niceTicks(max: number, count = 4): number[] {
  const rough = Math.max(max, 1) / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const factor = [1, 2, 2.5, 5, 10].find((step) => step * power >= rough && (step !== 2.5 || power >= 10)) ?? 10
  // Only whole numbers are shown.
  const step = Math.max(1, factor * power)
  const ticks = Array.from({ length: count + 2 }, (_, index) => index * step)
  const end = ticks.findIndex((tick) => tick >= max && tick > 0)
  return ticks.slice(0, end + 1)
}

/** The number of days between two labels of the axis, so that they fit. */
export function labelEvery(days: number, width: number, labelWidth = 76): number {
  return Math.max(1, Math.ceil(days / Math.max(1, Math.floor(width / labelWidth))))
}

export interface Point {
  x: number
  y: number
}

/** A curve through the points that never overshoots. */
export function linePath(points: readonly Point[]): string {
  return points
    .map(({ x, y }, index) => {
      const before = points[index - 1]
      if (!before) return `M${round(x)},${round(y)}`
      const middle = round((before.x + x) / 2)
      return `C${middle},${round(before.y)} ${middle},${round(y)} ${round(x)},${round(y)}`
    })
    .join('')
}

/** The area between the line and the axis. */
export function areaPath(points: readonly Point[], ground: number): string {
  const [first] = points
  const last = points.at(-1)
  return first && last ? `${linePath(points)}L${round(last.x)},${ground}L${round(first.x)},${ground}Z` : ''
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
