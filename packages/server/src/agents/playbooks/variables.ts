import { hasMoreCharacters } from '../../platform/characters.ts'

/** What stands between double braces: a name, and after a bar what to write when there is no value. */
const VARIABLE = /\{\{([^{}]*)\}\}/g
const NAME = /^[a-z_]+(\.[^\s.{}|][^.{}|]{0,127})$/
const LENGTH_MAX = 200
/** Text that leads somewhere else. Whoever fills in a form chooses it, and must not have us send it. */
const LEADS_AWAY = /:\/\/|\bwww\./i

/** What is known by each first part of a name; a list is closed, `any` takes every property. */
export const KNOWN = {
  contact: 'any',
  company: 'any',
  identity: ['firstname', 'lastname', 'name', 'role', 'jobtitle'],
  agent: ['name'],
  activity: ['total_events', 'first_seen', 'last_seen', 'days_since_last_seen', 'last_page', 'top_page'],
} as const satisfies Record<string, 'any' | readonly string[]>

/** Values by their whole name, `contact.firstname`. */
export type VariableValues = (name: string) => string | number | boolean | null | undefined

interface Variable {
  name: string
  fallback: string | null
}

/** The variables of a text that do not exist, each once. @param own names of the playbook's own, without `variables.`. */
export function unknownVariables(text: string, own: readonly string[]): string[] {
  const names = variablesOf(text).map(({ name }) => name)
  return [...new Set(names.filter((name) => !isKnown(name, own)))]
}

/** What can be written, in a sentence for whoever wrote something else. */
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

/** Fills in a text that a contact will read. @param harmless makes a value harmless in the text's format. */
export function fillIn(
  text: string,
  values: VariableValues,
  harmless: (value: string) => string = (same) => same,
): Filled {
  const missing: string[] = []
  const filled = text.replace(VARIABLE, (_whole, inside: string) => {
    const { name, fallback } = parse(inside)
    const value = usable(values(name))
    if (value !== null) return harmless(value)
    if (fallback === null) missing.push(name)
    return fallback ?? ''
  })
  return { text: filled, missing }
}

/**
 * The same for instructions to a model: what the tenant's own people wrote is filled in, and everything about the contact
 * becomes a pointer into the data, so that customer data never stands among the instructions.
 */
export function pointInto(text: string, own: VariableValues): string {
  return text.replace(VARIABLE, (_whole, inside: string) => {
    const { name, fallback } = parse(inside)
    if (/^(agent|identity|variables)\./.test(name)) return String(own(name) || fallback || '')
    return `[${name} from the data${fallback === null ? '' : `, or "${fallback}" without one`}]`
  })
}

function variablesOf(text: string): Variable[] {
  return [...text.matchAll(VARIABLE)].map(([, inside = '']) => parse(inside))
}

function parse(inside: string): Variable {
  const bar = inside.indexOf('|')
  return bar < 0
    ? { name: inside.trim(), fallback: null }
    : { name: inside.slice(0, bar).trim(), fallback: inside.slice(bar + 1).trim() }
}

function isKnown(name: string, own: readonly string[]): boolean {
  if (!NAME.test(name)) return false
  const [root = '', key = ''] = [name.slice(0, name.indexOf('.')), name.slice(name.indexOf('.') + 1)]
  if (root === 'variables') return own.includes(key)
  if (!Object.hasOwn(KNOWN, root)) return false
  const names = KNOWN[root as keyof typeof KNOWN]
  return names === 'any' || (names as readonly string[]).includes(key)
}

/** A value as one line; null for none, and for one that is no honest name, place or number. */
function usable(value: ReturnType<VariableValues>): string | null {
  if (value === null || value === undefined) return null
  const line = String(value)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return line === '' || hasMoreCharacters(line, LENGTH_MAX) || LEADS_AWAY.test(line) ? null : line
}

/** Keeps a value from being read as Markdown. */
export function escapeMarkdown(value: string): string {
  return value.replace(/[\\`*_{}[\]<>()#+!|~]/g, '\\$&')
}
