import { expect, test } from 'vitest'
import { ALL_FAULTS, problemsOf } from './all.ts'

test('each planted fault can still be planted: its file has its text once, and its tests exist', () => {
  expect(problemsOf(ALL_FAULTS)).toEqual([])
})

test('no two planted faults have the same name', () => {
  const names = ALL_FAULTS.map(({ name }) => name)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

test('a fault without its text, with it twice, or with a test that does not exist is a problem', () => {
  const fault = { name: 'x', area: 'x', file: 'scripts/planted-faults/fault.ts', replace: '', tests: ['none.test.ts'] }
  expect(problemsOf([{ ...fault, find: 'not in it' }])).toEqual([
    'x: scripts/planted-faults/fault.ts has its text 0 times instead of once.',
    'x: there is no test none.test.ts.',
  ])
  const [twice] = problemsOf([{ ...fault, find: ': string', tests: [] }])
  expect(twice).toMatch(/^x: scripts\/planted-faults\/fault\.ts has its text \d+ times instead of once\.$/)
})
