import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CONNECTORS } from '../src/connectors/all-connectors.ts'
import type { Connector } from '../src/connectors/connector.ts'

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
/** The systems that the service reads or writes besides those of connectors. */
const OTHERS = ['Every connector', 'Mailboxes with OAuth', 'Incoming hooks', 'Warehouse exports']
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

/** The titles that the page owes for connectors: one for reading, and one for writing back. */
function titlesOf(connectors: readonly Pick<Connector, 'label' | 'writeBack'>[]): string[] {
  return connectors.flatMap(({ label, writeBack }) => [label, ...(writeBack ? [`Writing back to ${label}`] : [])])
}

/** The titles that are not on the page. Connectors that share their cases share a table: “PostHog, Mixpanel and Amplitude”. */
function missing(titles: readonly string[]): string[] {
  const onPage = new Set(named.flatMap(([title = '']) => [title, ...title.split(/, | and /)]))
  return titles.filter((title) => !onPage.has(title))
}

test('every connector has a table, and another for writing back; a new one fails until it has', () => {
  expect(missing([...OTHERS, ...titlesOf(CONNECTORS)])).toEqual([])
  const added = { label: 'Small CRM', writeBack: CONNECTORS.find(({ writeBack }) => writeBack)?.writeBack }
  expect(missing(titlesOf([...CONNECTORS, added as Connector]))).toEqual(['Small CRM', 'Writing back to Small CRM'])
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
