const TICKS = 4

/** Round values that enclose some figures and 0, about five of them, for the gridlines. */
export function axisOf(figures: readonly number[]): number[] {
  let [min, max, isWhole] = [0, 0, true]
  for (const figure of figures) {
    if (figure < min) min = figure
    if (figure > max) max = figure
    if (!Number.isInteger(figure)) isWhole = false
  }
  const rough = (max - min) / TICKS
  const power = 10 ** Math.floor(Math.log10(rough || 1))
  const round = ([1, 2, 2.5, 5].find((factor) => factor * power >= rough) ?? 10) * power
  const step = isWhole ? Math.max(1, Math.ceil(round)) : round
  const [first, last] = [Math.floor(min / step), Math.max(Math.ceil(max / step), 1)]
  return Array.from({ length: last - first + 1 }, (_, index) => trimmed((first + index) * step))
}

/** Without the traces of binary fractions. */
function trimmed(value: number): number {
  return Number(value.toPrecision(12))
}

/** The number of intervals from one label of the axis to the next, so that they fit. */
export function labelEvery(intervals: number, width: number, labelWidth = 76): number {
  return Math.max(1, Math.ceil(intervals / Math.max(1, Math.floor(width / labelWidth))))
}

const COMPACT = new Intl.NumberFormat(undefined, { notation: 'compact', maximumSignificantDigits: 3 })
const FRACTION = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 })
const SMALL = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 2 })
const SHARE = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })

export function formatTick(value: number): string {
  return COMPACT.format(value)
}

/** A figure with at most two decimals, or with two digits if it is small; a dash if it is not known. */
export function formatFigure(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  return value !== 0 && Math.abs(value) < 0.01 ? SMALL.format(value) : FRACTION.format(value)
}

/** A length of time in seconds, with its two largest units: "2 min 35 s"; a dash if it is not known. */
export function formatLength(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '–'
  const whole = Math.round(seconds)
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60), whole % 60]
  const parts = [hours > 0 ? `${hours}\u00a0h` : '', minutes > 0 ? `${minutes}\u00a0min` : '', `${rest}\u00a0s`]
  const first = parts.findIndex((part) => part !== '')
  return parts
    .slice(first, first + 2)
    .filter((part) => part !== '')
    .join(' ')
}

/** A part of 1 as a percentage; a dash if it is not known. */
export function formatShare(part: number | null | undefined): string {
  return part === null || part === undefined ? '–' : SHARE.format(part)
}
