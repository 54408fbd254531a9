import { expect, test } from 'vitest'
import { createRowParser } from './contact-rows.ts'

test('rows of a million cells with a quotation mark are divided, however many there are', () => {
  const row = `${','.repeat(1_000_000)}"x"\n`
  const parser = createRowParser({ delimiter: ',', firstLine: 1 })
  for (let count = 0; count < 12; count++) {
    const [found, ...others] = parser.push(row)
    expect([found?.cells.length, found?.cells.at(-1), others]).toEqual([1_000_001, 'x', []])
  }
  expect(parser.end()).toEqual([])
})

test('a file of one column has no delimiter to look for, even if its values have quotation marks', () => {
  const parser = createRowParser({ delimiter: ',', firstLine: 1 })
  const rows = [...parser.push('5" pipe\n'.repeat(200_000)), ...parser.end()]
  expect([rows.length, rows.at(-1)]).toEqual([200_000, { line: 200_000, cells: ['5" pipe'] }])
})

test('a row of quotation marks that open many cells and close none is divided', () => {
  const parser = createRowParser({ delimiter: ',', firstLine: 1 })
  const rows = [...parser.push(`${'""y,'.repeat(250_000)}\n`), ...parser.end()]
  expect([rows.length, rows[0]?.line]).toEqual([1, 1])
})
