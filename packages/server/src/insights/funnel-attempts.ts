import {
  asBegin,
  attemptEvent,
  byWindow,
  ENDING_EVENT,
  isOfStep,
  isOfTimeOf,
  lastEndings,
  latestBegins,
  leastBegin,
  STEPS,
  stepsMet,
  subsetsOf,
  walkable,
} from '../conditions/attempts.ts'

/*
 * The attempt of a person, or of a session, that counts: the one that reaches furthest, the earliest of these. It is
 * computed of the list of their events, as expressions of a query that groups by person.
 */

export const FUNNEL_ORDERS = ['ordered', 'strict', 'any'] as const
export type FunnelOrder = (typeof FUNNEL_ORDERS)[number]

export interface Attempts {
  order: FunnelOrder
  /** The conditions that an event is of a step, and of an excluded one. */
  steps: readonly string[]
  excluded: string | null
  windowMs: number
  /** Sets of steps, counted from 0, that an event may meet several of. */
  sharing: readonly (readonly number[])[]
}

/** The names of what `attemptColumns` computes. */
export const REACHED = 'funnel_reached'
export const TIMES = 'funnel_times'
const EVENTS = 'funnel_events'
const SORTED = 'funnel_sorted'
const PREFIX = 'funnel_'

/** Columns of a query that groups events by person, and those that are `derived` from them. */
export interface AttemptColumns {
  ofEvents: string[]
  derived: string[]
}

/**
 * Columns of each person: `REACHED`, how many steps the attempt reaches (0 without one), and `TIMES`, the events by which it
 * reaches them, for `timeOf`.
 */
export function attemptColumns(attempts: Attempts): AttemptColumns {
  const derived = { ordered, strict, any: inAnyOrder }[attempts.order](attempts)
  return { ofEvents: [`arraySort(${eventsOf(attempts)}) AS ${SORTED}`], derived }
}

/** The steps that an event may serve: an excluded one may begin an attempt, but reaches no step. */
function stepsServed({ order, steps, excluded }: Attempts): string {
  const met = stepsMet(steps)
  if (excluded === null) return met
  return `if(${excluded}, ${order === 'any' ? 0 : `if(${steps[0]}, 1, 0)`}, ${met})`
}

/** The events of somebody as numbers. */
function eventsOf(attempts: Attempts): string {
  const { order, steps, excluded } = attempts
  const event = attemptEvent(stepsServed(attempts))
  // In strict order, an event that reaches no step ends attempts by itself; in any order, only excluded ones reach none.
  if (order !== 'ordered' || excluded === null) return `groupArray(${event})`
  const list = `if(${excluded}, if(${steps[0]}, [${event}, ${ENDING_EVENT}], [${ENDING_EVENT}]), [${event}])`
  return `groupArrayArray(${list})`
}

function ordered({ steps, windowMs, excluded, sharing }: Attempts): string[] {
  const last = steps.length - 1
  const endings = excluded === null ? null : `${PREFIX}endings`
  const begins = latestBegins(EVENTS, sharing, windowMs, `${PREFIX}begins`, endings)
  const firstBy = (step: number) => `${PREFIX}first${step}`
  const firsts = steps.map((_, step) => {
    // The list of the last step has those of the others in it.
    const list = step === last ? begins : `${PREFIX}begins${step}`
    return `arrayFirstIndex(b -> b >= 0, ${list}) AS ${firstBy(step)}`
  })
  const ofFurthest = (value: (step: number) => string | number, none: number) => {
    const cases = steps.map((_, step) => `${firstBy(step)} > 0, ${value(step)}`).toReversed()
    return `multiIf(${cases.join(', ')}, ${none})`
  }
  const place = `${PREFIX}place`
  const least = leastBegin(`${EVENTS}[${place}]`, windowMs, endings && `${endings}[${place}]`)
  const between = steps.slice(1, last).map((_, index) => {
    const isNext = `${isOfStep('x', index + 1)} AND i > ${place}${index}`
    return `arrayFirstIndex((x, i) -> ${isNext}, ${EVENTS}, arrayEnumerate(${EVENTS})) AS ${place}${index + 1}`
  })
  const places = steps.map((_, step) => (step === last ? firstBy(last) : `${place}${step}`))
  return [
    `${walkable(SORTED, sharing, 'ordered', `${PREFIX}walk_`)} AS ${EVENTS}`,
    ...(endings ? [`${lastEndings(EVENTS)} AS ${endings}`] : []),
    firsts.join(', '),
    `${ofFurthest((step) => step + 1, 0)} AS ${REACHED}, ${ofFurthest(firstBy, 0)} AS ${place}`,
    `${least} AS ${PREFIX}least`,
    // The furthest step is reached first by the earliest attempts that reach it: no later one can be sooner there.
    `arrayFirstIndex(x -> ${isOfStep('x', 0)} AND ${asBegin('x')} >= ${PREFIX}least, ${EVENTS}) AS ${place}0`,
    ...between,
    `[${places.map((each) => `${EVENTS}[${each}]`).join(', ')}] AS ${TIMES}`,
  ]
}

/** An attempt is a part of the list: each step is reached by the next event. */
function strict({ steps, windowMs, sharing }: Attempts): string[] {
  const reached = steps.reduceRight((further, _, step) => {
    const isInTime = step === 0 ? '' : ` AND x${step} <= ${asBegin('x0')} + ${byWindow(windowMs)}`
    return `if(${isOfStep(`x${step}`, step)}${isInTime}, ${further || step + 1}, ${step})`
  }, '')
  const next = steps.map((_, step) =>
    step === 0
      ? EVENTS
      : `arrayConcat(arraySlice(${EVENTS}, ${step + 1}), arrayWithConstant(least(${step}, length(${EVENTS})), toInt64(0)))`,
  )
  return [
    `${walkable(SORTED, sharing, 'strict', `${PREFIX}walk_`)} AS ${EVENTS}`,
    `arrayMap((${steps.map((_, step) => `x${step}`).join(', ')}) -> ${reached}, ${next.join(', ')}) AS ${PREFIX}reaches`,
    `arrayMax(${PREFIX}reaches) AS ${REACHED}`,
    `arraySlice(${EVENTS}, indexOf(${PREFIX}reaches, ${REACHED}), ${REACHED}) AS ${TIMES}`,
  ]
}

/** After no event. */
const NEVER = 'toInt64(4611686018427387904)'

/**
 * For each event, when an attempt that begins with it has reached 1, 2, … steps. Of steps that share no events, each is
 * reached by its next event. Of k steps that share events, s are reached as soon as each subset of them of more than k - s has
 * been met by as many events as it has steps beyond k - s (Kőnig's theorem).
 */
function inAnyOrder({ windowMs, excluded, sharing }: Attempts): string[] {
  const subsets = sharing.flatMap(subsetsOf)
  const nameOf = (bits: number, count: number) => `${PREFIX}met${bits}_${count}`
  // For each event, the one by which a subset has been met so often.
  const met = Array.from({ length: Math.max(...sharing.map((set) => set.length)) }, (_, index) =>
    subsets.flatMap(({ bits, size }) => {
      if (size <= index) return []
      const isMet = `bitAnd(x, ${bits}) != 0`
      const own =
        index === 0
          ? `arrayMap(x -> if(${isMet}, x, ${NEVER}), ${SORTED})`
          : `arrayPopFront(arrayPushBack(${nameOf(bits, index)}, ${NEVER}))`
      return [`arrayReverseFill((m, x) -> ${isMet}, ${own}, ${SORTED}) AS ${nameOf(bits, index + 1)}`]
    }),
  )
  const moments = sharing.flatMap((set) =>
    set.map((_, index) => {
      const beyond = index + 1 - set.length
      const needed = subsetsOf(set).flatMap(({ bits, size }) =>
        size + beyond > 0 ? [nameOf(bits, size + beyond)] : [],
      )
      if (needed.length === 1) return String(needed[0])
      const arguments_ = needed.map((_, argument) => `m${argument}`).join(', ')
      return `arrayMap((${arguments_}) -> greatest(${arguments_}), ${needed.join(', ')})`
    }),
  )
  const names = moments.map((_, index) => `${PREFIX}moment${index}`)
  const until = `${asBegin('x')} + ${byWindow(windowMs)}`
  const isEnding = `bitAnd(x, ${STEPS}) = 0`
  const nextEnding = `arrayReverseFill((m, x) -> ${isEnding}, arrayMap(x -> if(${isEnding}, ${asBegin('x')}, ${NEVER}), ${SORTED}), ${SORTED})`
  const limits = excluded
    ? `arrayMap((x, m) -> least(${until}, m), ${SORTED}, ${nextEnding})`
    : `arrayMap(x -> ${until}, ${SORTED})`
  const arguments_ = names.map((_, index) => `m${index}`)
  const reached = `if(${isEnding}, 0, ${arguments_.map((moment) => `(${moment} <= l)`).join(' + ')})`
  return [
    ...met.map((level) => level.join(', ')),
    moments.map((sql, index) => `${sql} AS ${names[index]}`).join(', '),
    `${limits} AS ${PREFIX}limits`,
    `arrayMap((x, l, ${arguments_.join(', ')}) -> ${reached}, ${SORTED}, ${PREFIX}limits, ${names.join(', ')}) AS ${PREFIX}reaches`,
    `arrayMax(${PREFIX}reaches) AS ${REACHED}`,
    `indexOf(${PREFIX}reaches, ${REACHED}) AS ${PREFIX}place`,
    `arraySort([${names.map((name) => `${name}[${PREFIX}place]`).join(', ')}]) AS ${TIMES}`,
  ]
}

/**
 * `name`: the value of the event that begins the attempt. Of several of one time, those count without which the attempt
 * advances as far at this time, and of these, the first by id.
 * @param value of an event
 */
export function ofFirstEvent(attempts: Attempts, id: string, value: string, name: string): AttemptColumns {
  const { order, sharing } = attempts
  const served = stepsServed(attempts)
  const isOfTime = (event: string) => isOfTimeOf(event, `${TIMES}[1]`)
  const isBegin = order === 'any' ? `(${served}) != 0` : isOfStep(`(${served})`, 0)
  const begins = `${PREFIX}begins`
  const ofEvents = [`groupArrayIf((${attemptEvent(served)}, ${id}, ${value}), ${isBegin}) AS ${begins}`]
  const first = (needed: string) =>
    `arraySort(c -> c.2, arrayFilter(c -> ${isOfTime('c.1')} AND bitAnd(c.1, ${needed}) = 0, ${begins}))[1].3 AS ${name}`
  if (order === 'any' || sharing.every((set) => set.length === 1)) return { ofEvents, derived: [first('0')] }
  // The steps after the first that need all events of this time that meet them.
  const advance = `arrayCount((x, i) -> i <= ${REACHED} AND ${isOfTime('x')}, ${TIMES}, arrayEnumerate(${TIMES}))`
  const isReached = `bitAnd(s, bitShiftLeft(toUInt32(1), ${PREFIX}advance) - 2) = s`
  const isNeeded = `arrayCount(x -> ${isOfTime('x')} AND bitAnd(x, s) != 0, ${SORTED}) = bitCount(s)`
  const sets = sharing.flatMap(subsetsOf).map(({ bits }) => `toUInt16(${bits})`)
  const needed = `arrayReduce('groupBitOr', arrayFilter(s -> ${isReached} AND ${isNeeded}, if(${PREFIX}advance > 1, [${sets}], [])))`
  return {
    ofEvents,
    derived: [`${advance} AS ${PREFIX}advance`, `${needed} AS ${PREFIX}needed`, first(`${PREFIX}needed`)],
  }
}
