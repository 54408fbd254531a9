import { afterAll } from 'vitest'
import { keepCompiledCode, writeCompiledCode } from '../src/platform/compiled-code.ts'
import { writeRecords } from './interface-coverage.ts'

// Before the test file is imported: workers, and the processes that tests start, reuse what an earlier one compiled.
keepCompiledCode()

// After every file, because the worker goes on to others.
afterAll(() => {
  writeRecords()
  writeCompiledCode()
})
