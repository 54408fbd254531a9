import { expect, test } from 'vitest'
import type { RecordsPage } from './connector.ts'
import { EVENTS_PER_PAGE } from './event-lines.ts'
import { type FileLines, pagesOfLines } from './json-lines.ts'

/** Files whose lines are events, except those that were read before. */
async function* filesOf(sizes: readonly number[], wasRead: (id: string) => boolean = () => false) {
  for (const [file, size] of sizes.entries()) {
    const lines = Array.from({ length: size }, (_, index) => ({ number: index + 1, text: '', value: null }))
    const idOf = (line: number) => `${file}/${line}`
    yield {
      lines,
      toCall: ({ number }) =>
        wasRead(idOf(number)) ? null : { id: idOf(number), call: new Error('not used') as never },
      cursorAfter: (line) => ({ file, line }),
    } satisfies FileLines
  }
}

/** For each page, the number of its events and where the next page starts; then the number of events in the rest. */
async function read(files: AsyncIterable<FileLines>) {
  const pages: [number | undefined, RecordsPage['next']][] = []
  const all = pagesOfLines(files, new AbortController().signal, (lines) => ({ profiles: lines.map(() => 0 as never) }))
  for (;;) {
    const { done, value } = await all.next()
    expect(value.profiles).toHaveLength(value.calls?.length ?? 0)
    if (done) return { pages, rest: value.calls?.length }
    pages.push([value.calls?.length, value.next])
  }
}

test('small files share a page, so that a day of hourly files is written at once', async () => {
  expect(await read(filesOf(Array.from({ length: 24 }, () => 20)))).toEqual({ pages: [], rest: 480 })
})

test('a full page continues after its last line, in whichever file that is', async () => {
  const half = EVENTS_PER_PAGE / 2
  expect(await read(filesOf([half + 10, half + 10]))).toEqual({
    pages: [[EVENTS_PER_PAGE, { file: 1, line: half - 10 }]],
    rest: 20,
  })
})

test('lines that were read before do not count towards a page', async () => {
  expect(await read(filesOf([10, 10], (id) => id.startsWith('0/')))).toEqual({ pages: [], rest: 10 })
})
