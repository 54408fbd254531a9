import type { EventWithContact } from '../../events/event-object.ts'
import { firstCharacters } from '../../platform/characters.ts'
import { partsOf, UNCLOSED_LINK } from './template.ts'
import { asText, inUrl } from './value.ts'

/** In code points. Discord rejects longer messages; the others allow more. */
const TEXT_LENGTH_MAX = 2_000

/** What a body is about. */
export interface Content {
  event: EventWithContact
  title: string
  path: string
  /** The contact's. */
  properties: Record<string, unknown>
}

/** The body of a Slack-compatible incoming webhook. */
export function renderMessage(template: string, content: Content): string {
  return JSON.stringify({ text: renderText(template, content) })
}

/** The text of a message. */
export function renderText(template: string, content: Content): string {
  const text = partsOf(template)
    .map((part) => {
      if ('text' in part) return part.text
      const value = placeholderValue(content, part.path)
      return part.isInLink ? inUrl(value) : asText(value)
    })
    .join('')
  const short = firstCharacters(text, TEXT_LENGTH_MAX - 1)
  if (short.length === text.length) return text
  // A cut entity or link would show characters that nobody wrote.
  return `${short.replace(/&[a-z]{0,3}$/, '').replace(UNCLOSED_LINK, '')}…`
}

function placeholderValue(
  { event, title, path, properties }: Content,
  [root = '', field = '', ...rest]: string[],
): unknown {
  const { contact, company } = event
  if (root === 'event')
    return field === 'data' ? at(event.data, rest) : ofEvent({ event, title, path, properties }, field)
  if (root === 'company') return field === 'id' ? company?._id : at(company, [field])
  if (field === 'properties') return at(properties, rest)
  if (field === 'id') return event.internal_contact_id
  return field === 'name' ? nameOf(event) : at(contact, [field])
}

function ofEvent({ event, title, path }: Content, field: string): unknown {
  if (field === 'name') return event.event
  if (field === 'id') return event.event_id
  if (field === 'title') return title
  return field === 'path' ? path : at(event, [field])
}

function nameOf({ contact, internal_contact_id: id }: Content['event']): string {
  const name = [contact?.firstname, contact?.lastname].filter(Boolean).join(' ').trim()
  return name || contact?.email || (id === null ? 'An anonymous visitor' : 'A contact without a name')
}

/** The value at a path of own fields. If a field's name contains dots, it is matched as one field. */
function at(value: unknown, path: readonly string[]): unknown {
  if (path.length === 0) return value
  if (typeof value !== 'object' || value === null) return undefined
  const whole = path.join('.')
  if (Object.hasOwn(value, whole)) return (value as Record<string, unknown>)[whole]
  const [first = '', ...rest] = path
  if (rest.length === 0 || !Object.hasOwn(value, first)) return undefined
  return at((value as Record<string, unknown>)[first], rest)
}
