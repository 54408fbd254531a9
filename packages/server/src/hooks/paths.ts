import { ServiceError } from '../platform/errors.ts'

/** A step of a path: the name of a field, the index of an item, or every item of a list. */
type Step = string | number | typeof EVERY

const EVERY = Symbol('every item')
export const PATH_LENGTH_MAX = 500
/** The maximum nesting of a body. */
const STEPS_MAX = 32
/**
 * How many list items the paths of a mapping may visit in one body, all together. A body can have a quarter of a million
 * items, and while hundreds of paths visited all of them, the process would serve no other request.
 */
const VISITED_ITEMS_MAX = 200_000
const FIELD = /^[^.[\]]+/
const ITEM = /^\[(\d{1,6}|\*)\]/
const QUOTED = /^\["((?:[^"\\]|\\.)*)"\]/

/**
 * Parses a path such as `data.object.email`, `answers[0].text`, `answers[*].email` (the first item that has one) or
 * `["first name"]`; `$` is the whole body.
 * @returns null if it is malformed.
 */
export function parsePath(path: string): readonly Step[] | null {
  if (path === '$') return []
  let rest = path.startsWith('$.') ? path.slice(2) : path.startsWith('$[') ? path.slice(1) : path
  const steps: Step[] = []
  while (rest !== '') {
    const step = nextStep(rest)
    if (step === null || steps.length === STEPS_MAX) return null
    steps.push(step.step)
    rest = rest.slice(step.length)
    if (!rest.startsWith('.')) {
      if (rest !== '' && !rest.startsWith('[')) return null
      continue
    }
    rest = rest.slice(1)
    if (!FIELD.test(rest)) return null
  }
  return steps.length === 0 ? null : steps
}

function nextStep(rest: string): { step: Step; length: number } | null {
  const item = ITEM.exec(rest)
  if (item) return { step: item[1] === '*' ? EVERY : Number(item[1]), length: item[0].length }
  const quoted = QUOTED.exec(rest)
  if (quoted) {
    try {
      return { step: JSON.parse(`"${quoted[1]}"`) as string, length: quoted[0].length }
    } catch {
      return null
    }
  }
  const field = FIELD.exec(rest)
  return field ? { step: field[0], length: field[0].length } : null
}

/** A body, in which a mapping finds its values. */
export interface Body {
  /**
   * The value at a path; undefined if it is missing, null or a blank text. Only own fields count, so `__proto__` and
   * `constructor` have no value.
   * @throws ServiceError 400 `hook_body_not_mapped` if the paths have visited too many items.
   */
  valueAt(path: string): unknown
}

/** The parsed paths of a mapping, by their texts; null for a malformed one. */
export type ParsedPaths = Map<string, readonly Step[] | null>

/** Opens a body. @param parsed is filled with the paths that are used, for the next body of the same mapping. */
export function openBody(content: unknown, parsed: ParsedPaths): Body {
  const visits = { left: VISITED_ITEMS_MAX }
  return {
    valueAt: (path) => {
      const known = parsed.get(path)
      const steps = known === undefined ? parsePath(path) : known
      if (known === undefined) parsed.set(path, steps)
      return steps === null ? undefined : walk(content, steps, 0, path, visits)
    },
  }
}

interface Visits {
  left: number
}

function walk(value: unknown, steps: readonly Step[], at: number, path: string, visits: Visits): unknown {
  const step = steps[at]
  if (step === undefined) {
    // A list that is used as a value counts with all of its items.
    if (Array.isArray(value)) visit(value.length, path, visits)
    return isBlank(value) ? undefined : value
  }
  if (value === null || typeof value !== 'object') return undefined
  if (typeof step === 'string') {
    if (Array.isArray(value) || !Object.hasOwn(value, step)) return undefined
    return walk((value as Record<string, unknown>)[step], steps, at + 1, path, visits)
  }
  if (!Array.isArray(value)) return undefined
  if (typeof step === 'number') return walk(value[step], steps, at + 1, path, visits)
  for (const item of value) {
    visit(1, path, visits)
    const found = walk(item, steps, at + 1, path, visits)
    if (found !== undefined) return found
  }
  return undefined
}

function visit(items: number, path: string, visits: Visits): void {
  visits.left -= items
  if (visits.left >= 0) return
  const message = `${path}: the mapping's paths read more than ${VISITED_ITEMS_MAX.toLocaleString('en')} list items of this body. Use fewer paths through long lists.`
  throw new ServiceError(400, 'hook_body_not_mapped', message)
}

function isBlank(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'string' && value.trim() === '')
}
