import { afterAll } from 'vitest'
import { cacheCompiledCode, writeCompiledCode } from '../src/platform/compiled-code.ts'
import { writeRecords } from './interface-coverage.ts'

// Before the test file is imported: workers, and the processes that tests start, reuse compiled code.
cacheCompiledCode()

// After every file, because the worker continues with others.
afterAll(() => {
  writeRecords()
  writeCompiledCode()
})
