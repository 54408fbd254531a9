import { existsSync, readFileSync } from 'node:fs'
import { CONNECTED_FAULTS } from './connected.ts'
import type { Fault } from './fault.ts'
import { PAGE_FAULTS } from './pages.ts'
import { RECORD_FAULTS } from './records.ts'
import { REQUEST_FAULTS } from './requests.ts'

export const ALL_FAULTS: readonly Fault[] = [...REQUEST_FAULTS, ...RECORD_FAULTS, ...CONNECTED_FAULTS, ...PAGE_FAULTS]

/** Why some faults cannot be planted, as sentences. */
export function problemsOf(faults: readonly Fault[]): string[] {
  return faults.flatMap(({ name, file, find, replace, tests }) => {
    const source = existsSync(file) ? readFileSync(file, 'utf8') : ''
    const times = source.split(find).length - 1
    const missing = tests.filter((test) => !existsSync(test))
    return [
      ...(times === 1 ? [] : [`${name}: ${file} has its text ${times} times instead of once.`]),
      ...(find === replace ? [`${name} changes nothing.`] : []),
      ...missing.map((test) => `${name}: there is no test ${test}.`),
    ]
  })
}
