import { expect, test } from 'vitest'
import { contentOf } from './cells.ts'

test('a long cell of @ costs no more than its length', () => {
  const cell = `'${'a@'.repeat(500_000)}b x`
  expect(contentOf(cell)).toBe(cell)
})

test('an address loses the apostrophe before it', () => {
  expect(["'ada@example.com", "'ada@home@example.com", "o'neil@example.com"].map(contentOf)).toEqual([
    'ada@example.com',
    'ada@home@example.com',
    "o'neil@example.com",
  ])
})
