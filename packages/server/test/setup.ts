import { afterAll } from 'vitest'
import { closeWindows } from './chromium.ts'
import { writeRecords } from './interface-coverage.ts'

// After every file, because the worker goes on to others.
afterAll(async () => {
  writeRecords()
  await closeWindows()
})
