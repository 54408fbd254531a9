import type { StreamEvent } from './streams.ts'

/*
 * A funnel, computed by trying all orders of events of one time. Shares no code with the service.
 */

export interface ReferenceFunnel {
  /** Whether an event is of each step. */
  steps: ((event: StreamEvent) => boolean)[]
  isExcluded(event: StreamEvent): boolean
  order: 'ordered' | 'strict' | 'any'
  windowMs: number
}

export interface Attempt {
  first: StreamEvent
  /** When each step was reached, in milliseconds; as long as it reached. */
  times: number[]
}

/** The attempt that counts among those of one person's, or session's, events: all that the question counts. */
export function attemptOf(events: readonly StreamEvent[], funnel: ReferenceFunnel): Attempt | null {
  const moments = [...Map.groupBy(events, ({ at }) => at)].sort(([a], [b]) => a - b).map(([, group]) => group)
  let best: Attempt | null = null
  for (const order of ordersOf(moments)) {
    for (const [place] of order.entries()) {
      const attempt = attemptFrom(order.slice(place), funnel)
      if (attempt && (best === null || compare(attempt, best) < 0)) best = attempt
    }
  }
  return best
}

function* ordersOf(moments: StreamEvent[][]): Generator<StreamEvent[]> {
  const [first, ...rest] = moments
  if (first === undefined) yield []
  else for (const order of permutations(first)) for (const following of ordersOf(rest)) yield [...order, ...following]
}

function* permutations<Item>(items: readonly Item[]): Generator<Item[]> {
  if (items.length === 0) yield []
  for (const [index, item] of items.entries()) {
    for (const rest of permutations(items.toSpliced(index, 1))) yield [item, ...rest]
  }
}

/** The furthest first, then the earliest, by its first step, then the next ones; then by the id of the first event. */
function compare(a: Attempt, b: Attempt): number {
  const by = [b.times.length - a.times.length, ...a.times.map((time, step) => time - (b.times[step] ?? 0))]
  return by.find((each) => each !== 0) ?? (a.first.id < b.first.id ? -1 : 1)
}

function attemptFrom([first, ...later]: StreamEvent[], funnel: ReferenceFunnel): Attempt | null {
  const { steps, isExcluded, order, windowMs } = funnel
  if (first === undefined) return null
  const times = [first.at]
  if (order === 'any') {
    if (isExcluded(first)) return null
    // Each set of steps that could have been reached, by different events.
    let reached = steps.flatMap((isOf, step) => (isOf(first) ? [new Set([step])] : []))
    if (reached.length === 0) return null
    for (const event of later) {
      if (event.at - first.at > windowMs || isExcluded(event)) break
      const more = reached.flatMap((set) =>
        steps.flatMap((isOf, step) => (isOf(event) && !set.has(step) ? [new Set([...set, step])] : [])),
      )
      const known = new Map([...reached, ...more].map((set) => [[...set].sort().join(), set]))
      reached = [...known.values()]
      if (Math.max(...reached.map(({ size }) => size)) > times.length) times.push(event.at)
    }
    return { first, times }
  }
  if (!steps[0]?.(first)) return null
  for (const event of later) {
    if (event.at - first.at > windowMs || isExcluded(event) || times.length === steps.length) break
    if (steps[times.length]?.(event)) times.push(event.at)
    else if (order === 'strict') break
  }
  return { first, times }
}

/** The figures of each step. */
export function stepsOf(attempts: readonly Attempt[], labels: readonly string[]) {
  const reached = labels.map((_, step) => attempts.filter(({ times }) => times.length > step))
  const part = (of: number, whole: number) => (whole === 0 ? null : of / whole)
  return labels.map((label, step) => {
    const all = reached[step] ?? []
    const count = all.length
    const times = all.map(({ times }) => (times[step] ?? 0) - (times[step - 1] ?? 0)).sort((a, b) => a - b)
    const [low = 0, high = 0] = [times[Math.floor((count - 1) / 2)], times[Math.ceil((count - 1) / 2)]]
    return {
      label,
      count,
      from_first: part(count, reached[0]?.length ?? 0),
      from_previous: part(count, reached[Math.max(step - 1, 0)]?.length ?? 0),
      median_seconds: step === 0 || count === 0 ? null : (low + high) / 2 / 1000,
    }
  })
}
