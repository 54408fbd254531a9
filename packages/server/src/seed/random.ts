/** Pseudo-random numbers, the same for the same seed, so that sample data is reproducible. */
export interface Random {
  /** From 0 (included) to 1 (excluded). */
  next(): number
  /** A whole number from `min` to `max`, inclusive. */
  integer(min: number, max: number): number
  pick<T>(items: readonly T[]): T
  /** One of the items, with a probability proportional to its weight. */
  weighted<T>(items: readonly (readonly [T, number])[]): T
  chance(probability: number): boolean
}

/** The mulberry32 generator. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  const pick = <T>(items: readonly T[]): T => {
    const item = items[integer(0, items.length - 1)]
    if (item === undefined) throw new Error('There is nothing to pick from.')
    return item
  }
  const weighted = <T>(items: readonly (readonly [T, number])[]): T => {
    let rest = next() * items.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [item, weight] of items) {
      rest -= weight
      if (rest < 0) return item
    }
    return pick(items)[0]
  }
  return { next, integer, pick, weighted, chance: (probability) => next() < probability }
}
