import { describe, expect, test } from 'vitest'
import { newestSpans } from '../insights/follow.ts'
import { type Condition, comparedIndexes, judge, problemsOfCondition } from './rule.ts'

const NEW = { interval: null, isMet: false }

/** The numbers after which an alert fires; a pair is a number and what it is compared with. */
function firesAt(condition: Condition, values: (number | null | [number | null, number | null])[], isRunning = false) {
  const points = values.map((each, index) => {
    const [value, compared] = Array.isArray(each) ? each : [each, null]
    return { interval: String(index), value, compared }
  })
  const { fires, after } = judge(condition, points, NEW, isRunning)
  return [fires.flatMap((isFiring, index) => (isFiring ? [index] : [])), after.isMet]
}

test.each([
  ['once when it becomes true', [5, 12, 15, 12], [1], true],
  ['again after it was false', [12, 5, 12, 10, 11], [0, 2, 4], true],
  ['never at the limit itself', [10, 10], [], false],
  ['not again after intervals without a number', [12, null, 12, null, 5, null, 12], [0, 6], true],
])('an alert above 10 fires %s', (_, values, fired, isMet) => {
  expect(firesAt({ operator: 'above', value: 10 }, values)).toEqual([fired, isMet])
})

test('an alert below fires below', () => {
  expect(firesAt({ operator: 'below', value: 0.2 }, [0.3, 0.2, 0.19, 0, null])).toEqual([[2], true])
})

test.each<[string, boolean, [number | null, number | null][], number[]]>([
  [
    'more than 10, up or down',
    false,
    [
      [20, 10],
      [21, 10],
      [10, 10],
      [-1, 10],
    ],
    [1, 3],
  ],
  [
    'more than 10 percent',
    true,
    [
      [110, 100],
      [111, 100],
      [100, 100],
      [89, 100],
      [-100, -100],
      [-111, -100],
    ],
    [1, 3, 5],
  ],
  [
    'any percentage from 0, but not by nothing',
    true,
    [
      [0, 0],
      [1, 0],
      [0, 0],
      [-0.5, 0],
    ],
    [1, 3],
  ],
  [
    'nothing that is known',
    true,
    [
      [5, null],
      [null, 5],
      [null, null],
    ],
    [],
  ],
])('a change by %s fires', (_, percent, values, fired) => {
  expect(firesAt({ operator: 'changed_by', value: 10, percent }, values)[0]).toEqual(fired)
})

test('of intervals that are not over, each fires once', () => {
  const condition = { operator: 'above', value: 10 } as const
  const seen = (interval: string, value: number) => ({ interval, value, compared: null })
  const days = [seen('1', 5), seen('1', 11), seen('1', 12), seen('2', 3), seen('2', 11), seen('3', 12), seen('3', 13)]
  expect(judge(condition, days, NEW, true).fires).toEqual([false, true, false, false, true, true, false])
  // The end of a day that was told of, and the day after.
  const before = { interval: '3', isMet: true }
  expect(judge(condition, [seen('3', 20), seen('4', 1)], before, true)).toEqual({
    fires: [false, false],
    after: { interval: '4', isMet: false },
  })
})

describe('a change is compared', () => {
  const place = (now: string) => ({ zone: 'Europe/Berlin', now: new Date(now), includesRunning: false })
  /** The keys of the newest intervals, each with the one that it is compared with. */
  function pairs(unit: 'hour' | 'day' | 'week' | 'month', count: number, now: string): [string, string | undefined][] {
    const keys = newestSpans(unit, count, place(now)).map(({ key }) => key)
    return comparedIndexes(unit, keys).map((earlier, index) => [keys[index] ?? '', keys[earlier]])
  }

  test('with the same day of the week before, across days of 23 and 25 hours', () => {
    expect(pairs('day', 9, '2026-03-31T10:00:00Z').slice(-2)).toEqual([
      ['2026-03-29', '2026-03-22'],
      ['2026-03-30', '2026-03-23'],
    ])
    expect(pairs('day', 8, '2026-10-26T10:00:00Z').at(-1)).toEqual(['2026-10-25', '2026-10-18'])
    expect(pairs('day', 7, '2026-10-26T10:00:00Z').at(-1)).toEqual(['2026-10-25', undefined])
  })

  test('with the same local hour of the week before', () => {
    // Summer time began on 29 March at 2:00 and ended on 25 October at 3:00.
    const spring = new Map(pairs('hour', 400, '2026-04-06T10:00:00Z'))
    expect(spring.get('2026-04-01T09:00+02:00')).toBe('2026-03-25T09:00+01:00')
    expect(spring.get('2026-04-05T02:00+02:00')).toBeUndefined()
    const autumn = new Map(pairs('hour', 400, '2026-11-02T10:00:00Z'))
    expect(autumn.get('2026-10-25T02:00+02:00')).toBe('2026-10-18T02:00+02:00')
    expect(autumn.get('2026-10-25T02:00+01:00')).toBe('2026-10-18T02:00+02:00')
    expect(autumn.get('2026-11-01T02:00+01:00')).toBe('2026-10-25T02:00+02:00')
  })

  test('with the week or the month before', () => {
    expect(pairs('week', 2, '2026-01-06T10:00:00Z')).toEqual([
      ['2025-W52', undefined],
      ['2026-W01', '2025-W52'],
    ])
    expect(pairs('month', 2, '2026-03-01T10:00:00Z').at(-1)).toEqual(['2026-02', '2026-01'])
  })
})

test.each<[Condition, boolean, string[]]>([
  [{ operator: 'above', value: -1 }, true, []],
  [{ operator: 'below', value: 1 }, true, ['condition.operator']],
  [{ operator: 'changed_by', value: 1, percent: true }, true, ['condition.operator']],
  [{ operator: 'changed_by', value: -1 }, false, ['condition.value']],
  [{ operator: 'above', value: 1, percent: true }, false, ['condition.percent']],
])('what is wrong with %j (running: %s) is named', (condition, isRunning, paths) => {
  expect(problemsOfCondition(condition, isRunning).map(({ path }) => path)).toEqual(paths)
})
