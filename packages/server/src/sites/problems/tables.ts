import type { Tables } from '../../platform/postgres/table-rules.ts'
import { eraseProblems } from './erase.ts'
import { deleteOldProblems } from './record.ts'

export const PROBLEM_TABLES = {
  request_problems: {
    key: ['at', 'problem_id'],
    erase: eraseProblems,
    export: 'none',
    retention: deleteOldProblems,
  },
} satisfies Tables
