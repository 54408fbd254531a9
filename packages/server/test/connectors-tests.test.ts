import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const PAGE = 'docs/connectors-tests.md'
const CASES = [
  'First read',
  'Increment',
  'Deletion',
  'Rate limit',
  'Token refresh',
  'Expired sign-in',
  'Server error',
  'Bad record',
  'Restart in the middle',
  'Erasure',
]
const [, ...sections] = readFileSync(PAGE, 'utf8').split(/^## /m)
const named = sections.map((section) => [section.split('\n')[0], section] as const)

test('every connected system has a line for every case, with a test or with the reason why there is none', () => {
  expect(sections.length).toBeGreaterThanOrEqual(9)
  for (const section of sections) {
    const [, , ...lines] = [...section.matchAll(/^\| (.*?) *\| (.*) \|$/gm)]
    expect(lines.map(([, name]) => name)).toEqual(CASES)
    for (const [line, , tests] of lines) expect(tests, line).toMatch(/`|^Does not apply: /)
  }
})

test.each(named)('%s: the tests that the page names exist', (_, section) => {
  const lines = section.split('\n').filter((line) => line.startsWith('| '))
  for (const line of lines) {
    let source = ''
    for (const [, link, name = ''] of line.matchAll(/\]\((\.\.\/[^)]+)\)|`([^`]+)`/g)) {
      if (link) source = readFileSync(join('docs', link), 'utf8')
      else
        expect(
          ["'", '"', '`'].some((mark) => source.includes(mark + name + mark)),
          name,
        ).toBe(true)
    }
  }
})
