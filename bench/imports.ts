import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ImportTimes } from './import-file.ts'
import { run } from './processes.ts'
import { number, progress, rows, SIZE } from './report.ts'

/** A file of new contacts, and the same file again, against COPY of the contacts alone. No service may be running. */
export async function measureImport(directory: string, environment: Record<string, string>): Promise<void> {
  progress(`importing ${number(SIZE.contacts)} contacts`)
  const found = join(directory, 'import.json')
  await run('./import-file.ts', [String(SIZE.contacts)], { ...environment, IMPORT_FILE: found })
  const { importSeconds, againSeconds, copySeconds } = JSON.parse(readFileSync(found, 'utf8')) as ImportTimes
  const perSecond = (seconds: number) => `${number(SIZE.contacts / seconds)} rows/s, ${seconds.toFixed(0)} s`
  const limit = `${perSecond(copySeconds)} COPY of the same contacts`
  rows.push({
    what: `import of ${number(SIZE.contacts)} contacts`,
    measured: perSecond(importSeconds),
    limit,
    ratio: copySeconds / importSeconds,
    aim: '0.33',
  })
  rows.push({
    what: 'the same file again',
    measured: perSecond(againSeconds),
    limit,
    ratio: copySeconds / againSeconds,
    aim: '',
  })
}
