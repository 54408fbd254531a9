/** The value of a condition. */
type Value = string | number | boolean

const BETWEEN_PATHS = ' | '
/** A path up to the next `|` outside of a quoted name such as `["a|b"]`. */
const PATH = /(?:\["(?:[^"\\]|\\.)*"\]|[^|])+/g
/** A quoted name, or a plain one with a `|`. */
const NAME_WITH_BAR = /\["(?:[^"\\]|\\.)*"\]|\.?([^.[\]|]*\|[^.[\]]*)/g
/** The next value, quoted or plain, up to its comma. */
const VALUE = /\s*(?:("(?:[^"\\]|\\.)*")\s*|([^,]*))(?:,|$)/gy

/** Paths in one line. A name with a `|` is quoted. */
export function textOfPaths(paths: readonly string[]): string {
  const quoted = paths.map((path) =>
    path.replace(NAME_WITH_BAR, (part, name?: string) => (name === undefined ? part : `[${JSON.stringify(name)}]`)),
  )
  return quoted.join(BETWEEN_PATHS)
}

/** The paths of a line with `|` between them. */
export function pathsOfText(text: string): string[] {
  return (text.match(PATH) ?? []).map((path) => path.trim()).filter((path) => path !== '')
}

/** Values in one line with commas between them. What would be read as something else is quoted, as in JSON. */
export function textOfValues(values: readonly Value[]): string {
  return values.map((value) => (typeof value === 'string' ? textOfString(value) : String(value))).join(', ')
}

function textOfString(value: string): string {
  const isPlain = /^[^\s",\p{C}](?:[^,\p{C}]*[^\s,\p{C}])?$/u.test(value) && plainValue(value) === value
  return isPlain ? value : JSON.stringify(value)
}

/** The values of a line. A quoted one is a text; others may be a number, true or false. */
export function valuesOfText(text: string): Value[] {
  return [...text.matchAll(VALUE)].flatMap(([, quoted, plain = '']): Value[] => {
    if (quoted !== undefined) return [unquoted(quoted)]
    return plain.trim() === '' ? [] : [plainValue(plain.trim())]
  })
}

function unquoted(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return quoted
  }
}

function plainValue(text: string): Value {
  if (text === 'true' || text === 'false') return text === 'true'
  if (/^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(text)) return Number(text)
  // As JavaScript writes a number that a mapping has, such as 1e+21.
  const isNumber = text !== '' && Number.isFinite(Number(text)) && String(Number(text)) === text
  return isNumber ? Number(text) : text
}
