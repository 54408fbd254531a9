import { pathWithin } from './mapping-draft.ts'
import { pathsOfText } from './mapping-text.ts'

const VALUES_MAX = 5_000

/** The texts, numbers and truths of a sample, by the paths that the tree of the sample gives them. */
export function valuesOf(sample: unknown): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>()
  const walk = (value: unknown, path: string): void => {
    if (values.size >= VALUES_MAX) return
    if (path !== '') values.set(path, value)
    if (value === null || typeof value !== 'object') return
    const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
    for (const [step, each] of entries) walk(each, pathWithin(path, step))
  }
  walk(sample, '')
  return values
}

/** What a field with these paths finds in the sample: the first that is not empty. Of a list, the item shown is the first. */
export function valueAt(values: ReadonlyMap<string, unknown>, paths: string): unknown {
  return pathsOfText(paths)
    .map((path) => values.get(path.replaceAll('[*]', '[0]').replace(/^\$\.?/, '')))
    .find((value) => value !== undefined && value !== null && value !== '')
}
