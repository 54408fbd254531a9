import { eventPropertyNamed } from '../conditions/event-property.ts'
import { scrub } from '../mcp/redaction/scrub.ts'
import type { Values } from '../operations/declare.ts'
import { isObject } from '../platform/is-object.ts'

/*
 * What anybody with a link may see of a question and its answer: numbers, never people. Everything else is left out, so that what a
 * later version adds to questions is not shared by accident.
 */

/** Properties whose values tell how people come and what they use, but not who they are. */
const VISIBLE_COLUMNS: ReadonlySet<string> = new Set([
  'event',
  'domain',
  'url_path',
  'element_type',
  'referring_domain',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'country',
  'region',
  'city',
  'browser',
  'os',
  'device_type',
  'screen',
  'language',
  'timezone',
  'is_bot',
  'origin_mismatch',
])

/** Fields of questions that name events, each with their fields. */
const FIELDS_OF_EVENTS: ReadonlySet<string> = new Set(['series', 'steps', 'exclude', 'start', 'return', 'goals'])
const VISIBLE_OF_EVENT = ['event', 'types', 'label', 'metric', 'property']
/** Other fields. Conditions, people and visits that a question is restricted to are not among them. */
const VISIBLE_FIELDS = [
  ...['date_from', 'date_to', 'last', 'time_zone', 'compare', 'include_bots', 'sample'],
  ...['interval', 'longer_interval', 'breakdown', 'limit', 'formula'],
  ...['window', 'order', 'count_by', 'mode', 'intervals'],
  ...['kind', 'from', 'to', 'depth', 'lists'],
]

/** The properties by which a question breaks down and whose values may be people's. */
export function hiddenBreakdowns({ breakdown }: Values): string[] {
  const names = Array.isArray(breakdown) ? breakdown.map(String) : []
  return names.filter((name) => {
    const property = eventPropertyNamed(name)
    return property === null || property.kind === 'data' || !VISIBLE_COLUMNS.has(property.column)
  })
}

/** A question without its conditions. An event that has some says so in `is_filtered`. */
export function visibleQuestion(question: Values): Values {
  const visible = VISIBLE_FIELDS.filter((name) => question[name] !== undefined).map((name) => [name, question[name]])
  const ofEvents = Object.entries(question).filter(([name]) => FIELDS_OF_EVENTS.has(name))
  return Object.fromEntries([...visible, ...ofEvents.map(([name, value]) => [name, visibleEvents(value)])])
}

function visibleEvents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(visibleEvents)
  if (!isObject(value)) return value
  const shown = VISIBLE_OF_EVENT.filter((name) => value[name] !== undefined).map((name) => [name, value[name]])
  return { ...Object.fromEntries(shown), ...(hasConditions(value) ? { is_filtered: true } : {}) }
}

/**
 * A question whose answer names the series of a trend by letter, as formulas do: two series may be about the same event and
 * differ in what is not shown.
 */
export function byLetter({ series, ...question }: Values): Values {
  if (!Array.isArray(series)) return question
  const named = series.map((each, index) => ({ ...each, label: String.fromCharCode(65 + index) }))
  return { ...question, series: named }
}

/** Whether a question counts only some events or people. */
export function isFiltered(question: Values): boolean {
  const { people, visit } = question
  return hasConditions(question) || people !== undefined || (Array.isArray(visit) && visit.length > 0)
}

function hasConditions({ where }: Values): boolean {
  return Array.isArray(where) && where.length > 0
}

/** An id or a secret in a path or a parameter: a UUID, or a word that mixes digits and letters as no word does. */
const TOKEN =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![\w-])(?:(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{16,}|(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{20,}|\d{6,})(?![\w-])/g

/**
 * A question or an answer in whose texts addresses, phone numbers, ids and secrets are replaced, which may be in URL paths. The
 * same one gets the same number, so that the rows of an answer stay apart.
 */
export function withoutPeople<Shown>(shown: Shown): Shown {
  const numbers = new Map<string, number>()
  const hide = (text: string) => {
    const number = numbers.get(text) ?? numbers.size + 1
    numbers.set(text, number)
    return `(hidden-${number})`
  }
  const replace = { email: hide, phone: hide, ip: hide, isKnownPhone: () => false, words: (text: string) => text }
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return scrub(value, replace).replace(TOKEN, hide)
    if (Array.isArray(value)) return value.map(walk)
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, walk(field)]))
  }
  return walk(shown) as Shown
}
