import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffLines } from '../src/agents/line-diff.ts'

const shown = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, line }) => ({ same: ' ', removed: '-', added: '+' })[kind] + line)

test('a changed line is removed and added between the lines that stay', () => {
  expect(shown('a\nb\nc\nd', 'a\nB\nc\nnew\nd')).toEqual([' a', '-b', '+B', ' c', '+new', ' d'])
  expect(shown('a', 'a')).toEqual([' a'])
  expect(shown('', 'a\nb')).toEqual(['-', '+a', '+b'])
})

test('without what was added it is the text before, and without what was removed the text after', () => {
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const lines = diffLines(before, after)
      const without = (kind: string) => lines.filter((each) => each.kind !== kind).map(({ line }) => line)
      expect(without('added').join('\n')).toBe(before)
      expect(without('removed').join('\n')).toBe(after)
    }),
  )
})

test('very long texts that share no beginning and no end are replaced as a whole', () => {
  const many = (letter: string) => Array.from({ length: 1_500 }, (_, n) => `${letter}${n}`).join('\n')
  expect(diffLines(many('a'), many('b')).filter(({ kind }) => kind === 'same')).toEqual([])
})
