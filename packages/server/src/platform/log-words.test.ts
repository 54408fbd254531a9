import { expect, test } from 'vitest'
import { createLog } from './log.ts'

/** What a log for people prints. */
function printed(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = []
  write(createLog('info', { format: 'words', destination: { write: (line) => void lines.push(line) } }))
  return lines.join('')
}

test('a line has the time, the level, the message, and fields by their names', () => {
  const line = printed((log) => log.info({ connection: 'c-1', attempt: 2, steps: ['read'] }, 'a pull is repeated'))
  expect(line).toMatch(/^\d\d:\d\d:\d\d info {2}a pull is repeated connection=c-1 attempt=2 steps=\["read"\]\n$/)
})

test('an error has its message, its code and the places in the code; a warning has no places', () => {
  const err = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' })
  expect(printed((log) => log.error({ err }, 'a pull failed'))).toMatch(
    /^\S+ error a pull failed: connect refused code=ECONNREFUSED\n\s+at /,
  )
  expect(printed((log) => log.warn({ err }, 'a pull failed'))).toMatch(
    /^\S+ warn {2}a pull failed: connect refused code=ECONNREFUSED\n$/,
  )
})

test('secrets and addresses are removed, and a value cannot begin a line of its own', () => {
  const line = printed((log) => log.info({ key: 'cds_abcdefgh', text: 'x\n\u001b[2Jy' }, 'of ada@example.com'))
  expect(line).toMatch(/info {2}of \[email\] key=cds_\[secret\] text=x \[2Jy\n$/)
})

test('only the first fields of many are shown, and the start of a long one', () => {
  const fields = Object.fromEntries(Array.from({ length: 9 }, (_, field) => [`f${field}`, 'x'.repeat(300)]))
  const line = printed((log) => log.info(fields, 'much'))
  expect(line).toContain(' f5=')
  expect(line).toMatch(/ …\n$/)
  expect(line).not.toContain('f6=')
  expect(line.length).toBeLessThan(1_400)
})
