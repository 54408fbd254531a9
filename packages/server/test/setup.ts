import { afterAll } from 'vitest'
import { writeRecords } from './interface-coverage.ts'

// After every file, because the worker goes on to others.
afterAll(writeRecords)
