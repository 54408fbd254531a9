import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ALWAYS, mayBreakAll, testsOfChange } from './changed-tests.ts'

const SERVER = 'packages/server/src'
/** Two features, of which `orders` imports `goods`, and a service that imports both. */
const FILES = new Map(
  Object.entries({
    [`${SERVER}/goods/tables.sql`]: '',
    [`${SERVER}/goods/prices.ts`]: "const TABLES = new URL('./tables.sql', import.meta.url)",
    [`${SERVER}/goods/prices.test.ts`]: "import { startService } from '../../test/service.ts'",
    [`${SERVER}/goods/routes.ts`]: "app.get('/v1/goods/:goods_id', () => {})",
    [`${SERVER}/goods/listed.test.ts`]: "import { startService } from '../../test/service.ts'",
    [`${SERVER}/goods/import/rows.test.ts`]: "import { startService } from '../../../test/service.ts'",
    [`${SERVER}/orders/totals.ts`]: "import { priceOf } from '../goods/prices.ts'",
    [`${SERVER}/orders/totals.test.ts`]: "import { startService } from '../../test/service.ts'",
    [`${SERVER}/orders/kinds.ts`]: "import type { Price } from '../goods/prices.ts'",
    [`${SERVER}/people/names.ts`]: 'export const names = []',
    [`${SERVER}/people/names.test.ts`]: "import { startService } from '../../test/service.ts'",
    [`${SERVER}/assembly/app.ts`]:
      "import '../goods/routes.ts'\nimport '../orders/totals.ts'\nimport '../people/names.ts'",
    'packages/server/test/service.ts': "import { createApp } from '../src/assembly/app.ts'",
    'packages/server/test/stock.ts': "import { priceOf } from '../src/goods/prices.ts'",
    'packages/server/test/stock-crash.test.ts': "import { stock } from './stock.ts'",
    'packages/server/test/shop.test.ts': "await call('GET', '/v1/goods/1')",
    'packages/server/test/walk.test.ts': 'walks',
    'packages/dashboard/src/goods/page.tsx': 'export const Page = () => null',
    'packages/dashboard/test/goods.test.ts': 'openBrowser()',
    'packages/dashboard/test/people.test.ts': 'openBrowser()',
  }),
)

const choose = (changed: string[], secondsMax = 100, files: typeof FILES = FILES) =>
  testsOfChange(changed, files, (file) => (file.includes('crash') ? 30 : 1), secondsMax)

test('a change of a feature chooses its tests, those near to it, and the walks, the nearest first', () => {
  expect(choose([`${SERVER}/goods/prices.ts`])).toEqual({
    chosen: [
      'packages/server/test/walk.test.ts',
      `${SERVER}/goods/prices.test.ts`,
      `${SERVER}/goods/listed.test.ts`,
      'packages/dashboard/test/goods.test.ts',
      `${SERVER}/goods/import/rows.test.ts`,
      `${SERVER}/orders/totals.test.ts`,
      'packages/server/test/stock-crash.test.ts',
      'packages/server/test/shop.test.ts',
    ],
    left: [],
  })
})

test('a path through the assembled service, or an import of types alone, chooses nothing', () => {
  const { chosen } = choose([`${SERVER}/people/names.ts`])
  expect(chosen).toEqual([
    'packages/server/test/walk.test.ts',
    `${SERVER}/people/names.test.ts`,
    'packages/dashboard/test/people.test.ts',
  ])
})

test('a file that is read counts as imported, and a deleted one too', () => {
  const sql = `${SERVER}/goods/tables.sql`
  expect(choose([sql]).chosen).toContain(`${SERVER}/orders/totals.test.ts`)
  const without = new Map([...FILES, [`${SERVER}/goods/prices.ts`, '']])
  expect(choose([`${SERVER}/goods/prices.ts`], 100, without).chosen).toContain(
    'packages/server/test/stock-crash.test.ts',
  )
})

test('a change of a page chooses the tests that are named after its feature', () => {
  expect(choose(['packages/dashboard/src/goods/page.tsx']).chosen).toEqual([
    'packages/server/test/walk.test.ts',
    'packages/dashboard/test/goods.test.ts',
  ])
})

test('a changed test runs, and a deleted one does not', () => {
  const path = 'packages/server/test/stock-crash.test.ts'
  expect(choose([path], 0).chosen).toEqual([path, 'packages/server/test/walk.test.ts'].toSorted().toReversed())
  expect(choose([path], 100, new Map([...FILES, [path, '']])).chosen).toEqual(['packages/server/test/walk.test.ts'])
})

test('what takes more time than there is is left out, and said', () => {
  const { chosen, left } = choose([`${SERVER}/goods/prices.ts`], 5)
  expect(left).toEqual([
    `${SERVER}/orders/totals.test.ts`,
    'packages/server/test/stock-crash.test.ts',
    'packages/server/test/shop.test.ts',
  ])
  expect(chosen).toHaveLength(5)
})

test('what all tests depend on may break each', () => {
  expect(mayBreakAll([`${SERVER}/goods/prices.ts`])).toBe(false)
  expect(mayBreakAll(['packages/server/test/setup.ts'])).toBe(true)
})

test('the walks that always run exist', () => {
  expect(ALWAYS.filter((path) => !existsSync(path))).toEqual([])
})
