import { SUMMARY_PROPERTIES } from '../../contacts/property-catalogue.ts'
import type { ConversationObject } from '../../conversations/conversation-object.ts'
import type { ContactContext } from './context.ts'
import { type Lessons, NO_LESSONS } from './decisions.ts'

/** The maximum size of a contact's data in a prompt. */
const CONTEXT_TOKENS_MAX = 6_000
/** Fewer characters a token than any model's tokenizer has for English or JSON. */
const CHARACTERS_A_TOKEN = 3
const TEXT_LENGTH_MAX = 500
const PROPERTIES_MAX = 100
/** Items shown of a property that is a list. */
const ITEMS_MAX = 10
/** The properties that are cut last. */
const IMPORTANT = [...SUMMARY_PROPERTIES, 'lead_status', 'country']

/** An estimate of the tokens, never far below the provider's count. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_A_TOKEN)
}

/** Bytes a token in the languages and kinds of text with the most tokens. */
const BYTES_A_TOKEN = 2
/** Tokens that providers add to a request for the form of the answer. */
const ADDED_TOKENS = 1_000

/** An upper estimate of a provider's count for a request. */
export function tokensAtMost(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN) + ADDED_TOKENS
}

/** A contact's data as it appears in a prompt. */
export interface PromptData {
  contact: {
    contact_id: string
    summary: string
    properties: Record<string, unknown>
    consent?: ContactContext['consent']
  }
  company: Record<string, unknown> | null
  events: ContactContext['events']
  recent_actions: ContactContext['recent_actions']
  /** What people decided about proposals of the same agent to others. */
  lessons: Lessons
  conversations: ShortConversation[]
  notes: ContactContext['notes']
  unified_profile: ContactContext['unified_profile']
}

interface ShortConversation {
  channel: string
  subject: string | null
  last_message_at: string
  message_count: number
  messages: { direction: string; sent_at: string; text: string }[]
}

/** Ways to shorten a prompt's data; each can be repeated until its part is empty. */
const CUTS: ((data: PromptData) => boolean)[] = [
  ({ unified_profile }) => empty(unified_profile.conflicts),
  ({ notes }) => halve(notes),
  ({ lessons }) => halve(lessons.edits),
  ({ lessons }) => halve(lessons.rejections),
  ({ events }) => halve(events.latest),
  ({ conversations }) => conversations.some(({ messages }) => messages.length > 1 && halve(messages)),
  ({ conversations }) => halve(conversations),
  ({ events }) => halve(events.pages),
  ({ recent_actions }) => halve(recent_actions),
  ({ company }) => company !== null && keepOnly(company, ['company_id', 'name', 'domain']),
  ({ contact }) => keepOnly(contact.properties, IMPORTANT),
  ({ events }) => halve(events.by_type),
]

/**
 * A contact's data as it appears in a prompt, cut to the budget. The least important parts are cut first: values that
 * sources disagree on, notes, single events, messages, conversations, pages, and last the properties. The same data gives
 * the same prompt.
 */
export function fitIntoBudget(
  context: ContactContext,
  conversations: readonly ConversationObject[],
  lessons: Lessons = NO_LESSONS,
  tokensMax = CONTEXT_TOKENS_MAX,
): PromptData {
  const data = toPromptData(context, conversations, lessons)
  for (const cut of CUTS) {
    while (estimateTokens(JSON.stringify(data)) > tokensMax && cut(data));
  }
  return data
}

function toPromptData(
  context: ContactContext,
  conversations: readonly ConversationObject[],
  lessons: Lessons,
): PromptData {
  const { contactId, summary, properties, consent, company, events, recent_actions, notes, unified_profile } = context
  // Copied, because cutting changes the data in place.
  return structuredClone({
    contact: {
      contact_id: contactId,
      summary: cut(summary),
      properties: shorten(properties),
      ...(consent === null ? {} : { consent: { ...consent, value: cut(String(consent.value)) } }),
    },
    company: company && {
      ...shorten(company.properties),
      company_id: company.company_id,
      name: company.name,
      domain: company.domain,
    },
    events: {
      ...events,
      by_type: events.by_type.map((type) => ({ ...type, event: cut(type.event) })),
      pages: events.pages.map((page) => ({ ...page, path: cut(page.path), title: page.title && cut(page.title) })),
      latest: events.latest.map(({ event, timestamp, url, title }) => ({
        event: cut(event),
        timestamp,
        url: url && cut(url),
        title: title && cut(title),
      })),
    },
    recent_actions,
    lessons,
    conversations: conversations.map(({ channel, subject, last_message_at, message_count, messages = [] }) => ({
      channel,
      subject: subject && cut(subject),
      last_message_at,
      message_count,
      messages: messages.map(({ direction, sent_at, text }) => ({ direction, sent_at, text: cut(text) })),
    })),
    notes: notes.map(({ content, at }) => ({ content: cut(content), at })),
    unified_profile: {
      sources: unified_profile.sources,
      conflicts: Object.fromEntries(Object.entries(unified_profile.conflicts).slice(0, PROPERTIES_MAX)),
    },
  })
}

function shorten(properties: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(properties)
  const order = [...IMPORTANT.filter((key) => Object.hasOwn(properties, key)), ...keys.sort()]
  const kept = [...new Set(order)].slice(0, PROPERTIES_MAX)
  return Object.fromEntries(kept.map((key) => [key, shortenValue(properties[key])]))
}

function shortenValue(value: unknown): unknown {
  if (typeof value === 'string') return cut(value)
  return Array.isArray(value) ? value.slice(0, ITEMS_MAX).map(shortenValue) : value
}

/** The beginning of a text that does not end in half a surrogate pair. */
function cut(text: string): string {
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX).toWellFormed()}…`
}

function halve(list: unknown[]): boolean {
  list.length = Math.floor(list.length / 2)
  return list.length > 0
}

function empty(of: Record<string, unknown>): boolean {
  for (const key of Object.keys(of)) delete of[key]
  return false
}

function keepOnly(of: Record<string, unknown>, keys: readonly string[]): boolean {
  for (const key of Object.keys(of)) if (!keys.includes(key)) delete of[key]
  return false
}
