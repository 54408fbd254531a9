import { afterAll, expect } from 'vitest'
import { COST } from '../src/access/passwords.ts'
import { cacheCompiledCode, writeCompiledCode } from '../src/platform/compiled-code.ts'
import { measureCost } from './costs.ts'
import { writeRecords } from './interface-coverage.ts'

// Before the test file is imported: workers, and the processes that tests start, reuse compiled code.
cacheCompiledCode()

// A hash takes a tenth of a second of processor time otherwise, and a run makes hundreds.
COST.N = 1_024

// Requests of the file's hooks would otherwise be recorded under the last test of the worker's previous file.
expect.setState({ currentTestName: undefined })

const storeCost = measureCost(expect.getState().testPath ?? '')

// After every file and its own hooks, because the worker continues with others.
afterAll(async () => {
  const { dropDatabasesOfFile } = await import('./databases.ts')
  await dropDatabasesOfFile()
  writeRecords()
  writeCompiledCode()
  storeCost()
})
