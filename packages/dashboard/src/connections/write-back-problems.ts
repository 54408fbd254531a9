import { ApiError } from '../api/client.ts'
import type { WriteBackProperty } from '../api/types.ts'

type Field = keyof WriteBackProperty

interface WriteBackProblems {
  /** What the service refused about a field, as the end of a sentence. */
  at(row: WriteBackProperty, field: Field): string | undefined
  /** The error, if the fields do not say all of it. */
  elsewhere: Error | null
}

const FIELDS: readonly Field[] = ['property', 'target', 'conflict']

/**
 * Where to show why the service did not save what is written back. It names rows by their place in what it got: rows may have
 * been changed, added or removed since.
 */
export function writeBackProblems(error: Error | null, sent: readonly WriteBackProperty[]): WriteBackProblems {
  const details = error instanceof ApiError ? error.details : []
  const problems = new Map(details.map(({ path, message }) => [path, message]))
  const fields = new Set(sent.flatMap((_, index) => FIELDS.map((field) => pathOf(index, field))))
  const isAtFields = details.length > 0 && details.every(({ path }) => fields.has(path))
  return {
    at: (row, field) => problems.get(pathOf(sent.indexOf(row), field)),
    elsewhere: isAtFields ? null : error,
  }
}

function pathOf(index: number, field: Field): string {
  return `properties.${index}.${field}`
}
