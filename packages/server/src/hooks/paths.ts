/** A step of a path: the name of a field, the index of an item, or every item of a list. */
type Step = string | number | typeof EVERY

const EVERY = Symbol('every item')
export const PATH_LENGTH_MAX = 500
/** The maximum nesting of a body. */
const STEPS_MAX = 32
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

/**
 * The value at a path of a body; undefined if it is missing, null or a blank text. Only own fields count, so `__proto__`
 * and `constructor` have no value.
 */
export function valueAt(body: unknown, path: string): unknown {
  const steps = parsePath(path)
  return steps === null ? undefined : walk(body, steps, 0)
}

function walk(value: unknown, steps: readonly Step[], at: number): unknown {
  const step = steps[at]
  if (step === undefined) return isBlank(value) ? undefined : value
  if (value === null || typeof value !== 'object') return undefined
  if (typeof step === 'string') {
    if (Array.isArray(value) || !Object.hasOwn(value, step)) return undefined
    return walk((value as Record<string, unknown>)[step], steps, at + 1)
  }
  if (!Array.isArray(value)) return undefined
  if (typeof step === 'number') return walk(value[step], steps, at + 1)
  for (const item of value) {
    const found = walk(item, steps, at + 1)
    if (found !== undefined) return found
  }
  return undefined
}

function isBlank(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'string' && value.trim() === '')
}
