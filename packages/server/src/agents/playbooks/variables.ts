import { hasMoreCharacters } from '../../platform/characters.ts'
import { replaceVariables, variablesOf } from '../../platform/templates.ts'

const NAME = /^[a-z_]+(\.[^\s.{}|][^.{}|]{0,127})$/
const LENGTH_MAX = 200
/** Text that looks like a link. A stranger can enter it in a form, and must not make us send it. */
const LEADS_AWAY = /:\/\/|\bwww\./i

/** The names after each root; `any` allows every property. */
export const KNOWN = {
  contact: 'any',
  company: 'any',
  identity: ['firstname', 'lastname', 'name', 'role', 'jobtitle'],
  agent: ['name'],
  activity: ['total_events', 'first_seen', 'last_seen', 'days_since_last_seen', 'last_page', 'top_page'],
} as const satisfies Record<string, 'any' | readonly string[]>

/** Values by full name, such as `contact.firstname`. */
export type VariableValues = (name: string) => string | number | boolean | null | undefined

/** The unknown variables in a text, each once. @param own the playbook's own names, without `variables.`. */
export function unknownVariables(text: string, own: readonly string[]): string[] {
  const names = variablesOf(text).map(({ name }) => name)
  return [...new Set(names.filter((name) => !isKnown(name, own)))]
}

/** The known variables, as part of an error message. */
export function describeVariables(own: readonly string[]): string {
  const parts = Object.entries(KNOWN).map(([root, names]) =>
    names === 'any' ? `${root}.<property>` : names.map((name) => `${root}.${name}`).join(', '),
  )
  return [...parts, ...own.map((name) => `variables.${name}`)].join(', ')
}

export interface Filled {
  text: string
  /** Variables without a value and without a fallback. */
  missing: string[]
}

/** Fills in a text for a contact. @param harmless escapes a value for the text's format. */
export function fillIn(
  text: string,
  values: VariableValues,
  harmless: (value: string) => string = (same) => same,
): Filled {
  const missing: string[] = []
  const filled = replaceVariables(text, ({ name, fallback }) => {
    const value = usable(values(name))
    if (value !== null) return harmless(value)
    if (fallback === null) missing.push(name)
    return fallback ?? ''
  })
  return { text: filled, missing }
}

/**
 * Fills in instructions for a model: values that the tenant's users wrote are filled in, and values of the contact become
 * references to the data, so that instructions never contain customer data.
 */
export function pointInto(text: string, own: VariableValues): string {
  return replaceVariables(text, ({ name, fallback }) => {
    if (/^(agent|identity|variables)\./.test(name)) return String(own(name) || fallback || '')
    return `[${name} from the data${fallback === null ? '' : `, or "${fallback}" without one`}]`
  })
}

function isKnown(name: string, own: readonly string[]): boolean {
  if (!NAME.test(name)) return false
  const [root = '', key = ''] = [name.slice(0, name.indexOf('.')), name.slice(name.indexOf('.') + 1)]
  if (root === 'variables') return own.includes(key)
  if (!Object.hasOwn(KNOWN, root)) return false
  const names = KNOWN[root as keyof typeof KNOWN]
  return names === 'any' || (names as readonly string[]).includes(key)
}

/** A value on one line; null if there is none, or if it does not look like a name, a place or a number. */
function usable(value: ReturnType<VariableValues>): string | null {
  if (value === null || value === undefined) return null
  const line = String(value)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return line === '' || hasMoreCharacters(line, LENGTH_MAX) || LEADS_AWAY.test(line) ? null : line
}

/** Escapes a value for Markdown. */
export function escapeMarkdown(value: string): string {
  return value.replace(/[\\`*_{}[\]<>()#+!|~]/g, '\\$&')
}
