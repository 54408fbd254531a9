import { DAY_MS, HOUR_MS, MINUTE_MS } from '../platform/time.ts'
import type { Within } from './language.ts'

/*
 * Attempts to go through steps in order, in ClickHouse: what a funnel and a sequence of a segment ask of somebody's events.
 * An event is a number that sorts by time, with a bit for each step that it meets; everything is computed of the sorted
 * list of somebody's events, without a loop over events.
 */

/** At most so many steps, whose bits are in each event. */
export const STEPS_MAX = 10
/** The bits of an event below its time. */
const BITS = 11
const UNIT = 2 ** BITS
/** The bit of an event that ends attempts. It sorts after the steps of its time, which are reached before. */
const ENDS = 2 ** STEPS_MAX
/** The bits of the steps. */
export const STEPS = ENDS - 1
/** No begin: before each one. */
const NONE = 'toInt64(-4611686018427387904)'
const WINDOW_UNITS_MS: Record<Within['unit'], number> = {
  minute: MINUTE_MS,
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
}

/** The most time from the begin of an attempt to its last step. */
export function windowMsOf({ value, unit }: Within): number {
  return value * WINDOW_UNITS_MS[unit]
}

/** Times are counted from 1900, the earliest of a DateTime64, so that none is negative. */
const SINCE_1900 = '2208988800000'

/** The bits of the steps that an event meets. @param conditions of the steps, which are not null */
export function stepsMet(conditions: readonly string[]): string {
  return conditions.map((condition, step) => `if(${condition}, ${2 ** step}, 0)`).join(' + ')
}

/** An event as a number. @param steps its `stepsMet` */
export function attemptEvent(steps: string): string {
  return `(toUnixTimestamp64Milli(timestamp) + ${SINCE_1900}) * ${UNIT} + (${steps})`
}

/** An event that ends attempts that began before it, as a number. */
export const ENDING_EVENT = attemptEvent(String(ENDS))

/** The time of an event, for differences. */
export function timeOf(event: string): string {
  return `bitShiftRight(${event}, ${BITS})`
}

/** The condition that an event is of a step, which are counted from 0. */
export function isOfStep(event: string, step: number): string {
  return `bitTest(${event}, ${step})`
}

/** An event as the begin of an attempt: the latest of its time. */
export function asBegin(event: string): string {
  return `bitOr(${event}, ${UNIT - 1})`
}

/** A window, for sums with events. */
export function byWindow(windowMs: number): string {
  return `toInt64(${windowMs * UNIT})`
}

/** The condition that two events are of one time. */
export function isOfTimeOf(a: string, b: string): string {
  return `bitXor(${a}, ${b}) < ${UNIT}`
}

/** Each event beside the one before it. */
const before = (events: string) => `arrayPopBack(arrayPushFront(${events}, ${NONE}))`

/**
 * The sorted events, such that they can be walked one after another: those of one time are put into the order that
 * serves the steps, and each meets only the steps that others do not need.
 *
 * Of events of one time, the one at place p of them then meets step s if the last p steps up to s (or all up to s, if there
 * are fewer) can be reached by different ones of these events. By Hall's theorem, they can unless some of these steps are
 * met by fewer events than they are. So an attempt advances by exactly as many steps as the events allow, whatever step it
 * had reached before.
 * @param sharing sets of steps that one event may meet: see `stepsThatShare`
 * @param order `strict`: each event counts, so that those that meet no step are at places, too
 */
export function walkable(
  events: string,
  sharing: readonly (readonly number[])[],
  order: 'ordered' | 'strict',
  prefix: string,
): string {
  // Events of one step each are sorted by their steps.
  if (order === 'ordered' && !isShared(sharing)) return events
  const count = Math.max(...sharing.flat()) + 1
  const meetsSeveral = (event: string) => `bitAnd(bitAnd(${event}, ${event} - 1), ${STEPS}) != 0`
  const isTangled = [
    isOfTimeOf('x', 'y'),
    ...(order === 'ordered' ? [`x != y AND (${meetsSeveral('x')} OR ${meetsSeveral('y')})`] : []),
  ].join(' AND ')
  const [sorted, tangled, knots, groups] = [`${prefix}sorted`, `${prefix}tangled`, `${prefix}knots`, `${prefix}groups`]
  const sets = `[${sharing.flatMap(subsetsOf).map(({ bits }) => bits)}]`
  const lacking = `arrayMap(g -> arrayFilter(s -> bitCount(s) > arrayCount(x -> bitAnd(x, s) != 0, g), arrayMap(s -> toUInt16(s), ${sets})), ${groups})`
  const meets = Array.from({ length: count }, (_, step) => {
    const last = `toUInt16(${2 ** (step + 1)} - bitShiftLeft(toUInt32(1), ${step + 1} - least(${step + 1}, p)))`
    return `if(arrayExists(s -> bitAnd(s, ${last}) = s, lack), 0, ${2 ** step})`
  }).join(' + ')
  const untangled = `arrayMap((x, p) -> if(bitTest(x, ${STEPS_MAX}), x, x - bitAnd(x, ${STEPS}) + ${meets}), g, arrayEnumerate(g))`
  const needsOrder = `(arrayExists((x, y) -> ${isTangled}, (${events} AS ${sorted}), ${before(sorted)}) AS ${tangled})`
  const split = `(arraySplit((x, y) -> NOT (${isOfTimeOf('x', 'y')}), (if(${tangled}, ${sorted}, []) AS ${knots}), ${before(knots)}) AS ${groups})`
  return `if(${needsOrder}, arrayFlatten(arrayMap((g, lack) -> ${untangled}, ${split}, ${lacking})), ${sorted})`
}

/** The subsets of steps, but for the empty one: the bits of their steps, and how many they are. */
export function subsetsOf(steps: readonly number[]): { bits: number; size: number }[] {
  const sets = [{ bits: 0, size: 0 }]
  for (const step of steps) sets.push(...sets.map(({ bits, size }) => ({ bits: bits + 2 ** step, size: size + 1 })))
  return sets.slice(1)
}

/**
 * Steps in sets, such that no event meets steps of different sets: those with names in common, also with others of a set.
 * @param names of the events that a step is met by; null if it may be any
 */
export function stepsThatShare(names: readonly (readonly string[] | null)[]): number[][] {
  const sets: { steps: number[]; names: readonly string[] | null }[] = []
  for (const [step, own] of names.entries()) {
    const meets = ({ names: others }: (typeof sets)[number]) =>
      own === null || others === null || others.some((name) => own.includes(name))
    const [joined, apart] = [sets.filter(meets), sets.filter((set) => !meets(set))]
    const all = joined.map((set) => set.names)
    const together = own === null || all.includes(null) ? null : [...own, ...all.flatMap((each) => each ?? [])]
    sets.splice(0, sets.length, ...apart, { steps: [...joined.flatMap(({ steps }) => steps), step], names: together })
  }
  return sets.map(({ steps }) => steps)
}

/** Whether an event may meet several steps. */
function isShared(sharing: readonly (readonly number[])[]): boolean {
  return sharing.some((steps) => steps.length > 1)
}

/**
 * For the last of some steps, a list beside the events: at an event that reaches the step, the latest begin of an attempt
 * that reaches it there, else a negative number. An event that is the next step of an attempt hands its begin on. The list of
 * each step has a name, `<prefix>0` for the first.
 * @param events the name of the `walkable` events
 * @param endings the name of a list beside them: the last ending event before each; without it, nothing ends attempts
 */
export function latestBegins(
  events: string,
  sharing: readonly (readonly number[])[],
  windowMs: number,
  prefix: string,
  endings: string | null = null,
): string {
  const steps = sharing.flat().length
  let begins = `(arrayMap(x -> if(${isOfStep('x', 0)}, ${asBegin('x')}, ${NONE}), ${events}) AS ${prefix}0)`
  for (let step = 1; step < steps; step++) {
    const latest = `arrayFill(b -> b >= 0, ${begins})`
    // An event of one step is no begin that it could itself hand on.
    const known = isShared(sharing) ? before(latest) : latest
    const least = leastBegin('x', windowMs, endings && 'e')
    const isReached = `${isOfStep('x', step)} AND b >= ${least}`
    begins = `(arrayMap((x, b${endings ? ', e' : ''}) -> if(${isReached}, b, ${NONE}), ${[events, known, ...(endings ? [endings] : [])].join(', ')}) AS ${prefix}${step})`
  }
  return begins
}

/** The least begin of an attempt that reaches a step by an event. */
export function leastBegin(event: string, windowMs: number, ending: string | null): string {
  const least = `${event} - ${byWindow(windowMs)}`
  return ending === null ? least : `greatest(${least}, ${ending})`
}

/** The last ending event before each event of a list. */
export function lastEndings(events: string): string {
  return `arrayFill(x -> x >= 0, arrayMap(x -> if(bitTest(x, ${STEPS_MAX}), x, ${NONE}), ${events}))`
}
