import { validationError } from '../../platform/errors.ts'

/** In code points. The preview sends the template in a URL. */
export const TEMPLATE_LENGTH_MAX = 1_000

/** A part of a template: the author's text, or a placeholder. */
export type Part = { text: string } | { path: string[]; isInLink: boolean }

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
const EVENT_FIELDS = new Set(['name', 'id', 'timestamp', 'url', 'domain', 'title', 'path', 'referrer', 'visitor_id'])
const FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  event: EVENT_FIELDS,
  contact: new Set(['id', 'name', 'email', 'firstname', 'lastname']),
  company: new Set(['id', 'name', 'domain']),
}
/** The objects whose fields can have any name. */
const OPEN_FIELDS = new Set(['event.data', 'contact.properties'])
const ALLOWED =
  'event.name, event.id, event.timestamp, event.url, event.domain, event.title, event.path, event.referrer, event.visitor_id, event.data.…, contact.id, contact.name, contact.email, contact.firstname, contact.lastname, contact.properties.…, company.id, company.name or company.domain'
/** What an author may write before a placeholder within `<…>`. A value alone could be `!channel`. */
const LINK_START = /^<(https?:\/\/|mailto:)/i

/** A `<` before a space, a digit, = or - does not begin a link: it is a comparison, an arrow or a heart. */
const OPEN_LINK = /<(?![\s\d=-])[^<>|]*$/
/** An unclosed link at the end of a text, with or without a label. */
export const UNCLOSED_LINK = /<(?![\s\d=-])[^>]*$/

/** Divides a template that `checkTemplate` accepted into its parts. */
export function partsOf(template: string): Part[] {
  const parts: Part[] = []
  let end = 0
  for (const match of template.matchAll(PLACEHOLDER)) {
    const { 0: whole, 1: inside = '', index } = match
    if (index > end) parts.push({ text: template.slice(end, index) })
    end = index + whole.length
    parts.push({ path: inside.trim().split('.'), isInLink: openLinkOf(template.slice(0, index)) !== null })
  }
  if (end < template.length) parts.push({ text: template.slice(end) })
  return parts
}

/** Checks the placeholders of a template. @throws ServiceError 400 */
export function checkTemplate(template: string): void {
  const problems = [...template.matchAll(PLACEHOLDER)].flatMap(({ 0: whole, 1: inside = '', index }) => {
    const link = openLinkOf(template.slice(0, index))
    if (!isKnown(inside.trim().split('.'))) return `has the unknown placeholder ${whole}. Use ${ALLOWED}`
    if (link !== null && !LINK_START.test(link)) {
      return `has ${whole} directly after <. A link must begin with https://, http:// or mailto:, as in <https://example.com/${whole}|Open>`
    }
    return []
  })
  const rest = template.replace(PLACEHOLDER, '')
  if (rest.includes('{{') || rest.includes('}}'))
    problems.push('has an unmatched {{ or }}. Write placeholders like {{contact.email}}')
  if (template.trim() === '') problems.push('must not be blank. Leave it out to use the default text')
  const [message] = problems
  if (message !== undefined) throw validationError([{ path: 'template', message }])
}

/** @throws ServiceError 400 for a template of another format */
export function requireSlack(format: string, template: string | null | undefined): void {
  if (format === 'slack' || template === null || template === undefined) return
  throw validationError([{ path: 'template', message: 'requires the format slack. Leave it out for the format json' }])
}

function isKnown([root = '', field = '', ...rest]: string[]): boolean {
  if (OPEN_FIELDS.has(`${root}.${field}`)) return rest.length > 0 && rest.every((name) => name !== '')
  return rest.length === 0 && Object.hasOwn(FIELDS, root) && FIELDS[root]?.has(field) === true
}

/** The `<…` of an unclosed link at the end of a text, before its label; null if there is none. */
function openLinkOf(before: string): string | null {
  return before.match(OPEN_LINK)?.[0] ?? null
}
