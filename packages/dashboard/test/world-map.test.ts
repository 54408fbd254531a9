import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { COUNTRY_PATHS, SMALL_COUNTRIES, WORLD_HEIGHT, WORLD_WIDTH } from '../src/insights/generated/world.ts'
import { worldMap } from '../world-map.ts'

/** The corners of a country's outline. */
function boxOf(country: string) {
  const points: [number, number][] = []
  for (const [, start = '', ways = ''] of (COUNTRY_PATHS[country] ?? '').matchAll(/M([^l]+)l([^z]+)z/g)) {
    const pair = (text: string) => text.split(',').map(Number) as [number, number]
    let [x, y] = pair(start)
    points.push([x, y])
    for (const [dx, dy] of ways.split(' ').map(pair)) {
      x += dx
      y += dy
      points.push([x, y])
    }
  }
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)]
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) }
}

test('the map is that of the atlas', () => {
  const path = 'packages/dashboard/src/insights/generated/world.ts'
  expect(readFileSync(path, 'utf8'), 'run: npm run generate').toBe(worldMap())
})

test('every country is within the map, has a name, and lies where it should', () => {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  for (const country of [...Object.keys(COUNTRY_PATHS), ...Object.keys(SMALL_COUNTRIES)]) {
    expect(names.of(country), country).toBeDefined()
  }
  for (const country of Object.keys(COUNTRY_PATHS)) {
    const { left, right, top, bottom } = boxOf(country)
    expect([left >= 0, right <= WORLD_WIDTH, top >= 0, bottom <= WORLD_HEIGHT], country).toEqual([
      true,
      true,
      true,
      true,
    ])
  }
  const [germany, france, poland, kenya] = ['DE', 'FR', 'PL', 'KE'].map(boxOf)
  expect(france?.left).toBeLessThan(germany?.left ?? 0)
  expect(germany?.left).toBeLessThan(poland?.left ?? 0)
  expect(germany?.bottom).toBeLessThan(kenya?.top ?? 0)
  // Cut at the date line: Russia is at both edges, and no outline goes from one to the other.
  expect(boxOf('RU').left).toBeLessThan(WORLD_WIDTH / 4)
  expect(COUNTRY_PATHS.RU).not.toMatch(/[l ]-?\d{4},/)
  expect([SMALL_COUNTRIES.SG, COUNTRY_PATHS.XK, COUNTRY_PATHS.AQ].map((each) => each !== undefined)).toEqual([
    true,
    true,
    false,
  ])
})
