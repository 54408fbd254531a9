import { expect, test } from 'vitest'
import { decimalShownBy, numberOf } from './numbers.ts'

test.each([
  ['1.234,50 €', ',', 1234.5],
  ['€ 1.234,50', ',', 1234.5],
  ['$1,234.50', '.', 1234.5],
  ['USD 1,234', '.', 1234],
  ['1 234,50', ',', 1234.5],
  ['1\u202f234\u202f567,5', ',', 1234567.5],
  ["CHF 1'234.50", '.', 1234.5],
  ['CHF 250.-', '.', 250],
  ['($1,250.00)', '.', -1250],
  ['-$5', '.', -5],
  ['1.250,00-', ',', -1250],
  ['12 %', '.', 12],
  ['1250', ',', 1250],
  ['1200 kr', '.', 1200],
  ['0170', '.', 'code'],
  ['123456789012345678', '.', 'code'],
  ['12 34', '.', null],
  ['many', '.', null],
  ['1,2,3', '.', null],
  ['1.234,50', '.', null],
  ['', '.', null],
] as const)('%j with %j is %j', (cell, decimal, number) => {
  expect(numberOf(cell, decimal)).toBe(number)
})

test.each([
  ['1.234,50', ','],
  ['1,234.50', '.'],
  ['1,5', ','],
  ['1.5', '.'],
  ['1.234.567', ','],
  ['0,125', ','],
  ['1.250 €', ','],
  ['1,250', 'either'],
  ['1250', null],
  ['Rome, Oslo', null],
] as const)('%j shows the decimal separator %j', (cell, decimal) => {
  expect(decimalShownBy(cell)).toBe(decimal)
})
