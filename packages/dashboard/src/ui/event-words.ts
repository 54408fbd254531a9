import {
  type Icon,
  IconBolt,
  IconBrowser,
  IconClick,
  IconCoin,
  IconDoorExit,
  IconFileText,
  IconFilter,
  IconLink,
  IconPlayerPlay,
  IconRobot,
  IconSparkles,
  IconUserCheck,
  IconUserEdit,
} from '@tabler/icons-react'
import { formatDuration, formatNumber } from './format.ts'
import { propertyLabel, valueWords } from './property-value.ts'
import { text } from './text.ts'

const words = text.event
const LENGTH_MAX = 120

const ICONS: Record<string, Icon> = {
  page_view: IconBrowser,
  page_leave: IconDoorExit,
  first_visit: IconSparkles,
  button_click: IconClick,
  link_click: IconLink,
  form_submit: IconFileText,
  form_submission: IconFileText,
  contact_created: IconUserCheck,
  contact_identified: IconUserCheck,
  contact_updated: IconUserEdit,
  contact_deleted: IconUserEdit,
  lifecycle_stage_changed: IconUserEdit,
}

export function eventIcon(event: string): Icon {
  const known = Object.hasOwn(ICONS, event) ? ICONS[event] : undefined
  if (known) return known
  if (event.startsWith('video_')) return IconPlayerPlay
  if (event.startsWith('deal_')) return IconCoin
  if (event.startsWith('segment_')) return IconFilter
  return event.startsWith('agent_action_') ? IconRobot : IconBolt
}

/** The label of a kind of event, the same on every page: that of a custom event is its name in words. */
export function eventLabel(event: string): string {
  return isKnown(event) ? (words.labels[event] ?? event) : inWords(event.slice(0, 200))
}

/** A name as people write it: `order_paid`, `order.paid` and `orderPaid` become “Order paid”. What is no such name stays as it is. */
function inWords(name: string): string {
  if (!/^[\p{L}\p{N}_.:/-]+$/u.test(name)) return name
  const apart = name
    .replace(/(\p{Ll}|\p{N})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/[_.:/-]+/g, ' ')
    .trim()
  if (apart === '') return name
  const lower = apart.split(' ').map((word) => (isShouted(word) && !isShouted(apart) ? word : word.toLowerCase()))
  const sentence = lower.join(' ')
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}

/** Without small letters: an abbreviation, or a name that is all capitals. */
function isShouted(word: string): boolean {
  return /\p{Lu}/u.test(word) && !/\p{Ll}/u.test(word)
}

/** Whether it is one of the service's own, which has a label. */
export function isKnown(event: string): boolean {
  return Object.hasOwn(words.labels, event)
}

/** What a line about an event needs; the data of a live event are not known. */
export interface DescribedEvent {
  event: string
  url: string | null
  data: Record<string, unknown>
  /** How long its page was open, for a page view. */
  secondsOnPage?: number | undefined
}

/** One event in a sentence: "Clicked “Start trial” on Pricing". */
export function eventLine({ event, url, data, secondsOnPage }: DescribedEvent): string {
  const label = eventLabel(event)
  const page = textOf(data.title) || pathOf(url)
  switch (event) {
    case 'page_view': {
      const time = formatDuration(secondsOnPage ?? 0)
      if (page === '') return label
      return time === '' ? words.viewed(page) : words.viewedFor(page, time)
    }
    case 'page_leave': {
      const time = typeof data.time_on_page === 'number' ? formatDuration(data.time_on_page) : ''
      const what = page === '' ? label : words.left(page)
      return time === '' ? what : words.after(what, time)
    }
    case 'button_click':
    case 'link_click': {
      const element = textOf(data.text)
      return on(element === '' ? label : words.clicked(element), page)
    }
    case 'form_submit':
    case 'form_submission':
      return on(label, page)
    case 'video_play':
    case 'video_pause':
    case 'video_complete': {
      const title = textOf(data.video_title) || textOf(data.title)
      return title === '' ? label : (words.video[event]?.(title) ?? label)
    }
    case 'video_milestone': {
      const percent = textOf(data.percent)
      return percent === '' ? label : words.reached(percent, textOf(data.video_title) || textOf(data.title))
    }
    default:
      return otherLine(event, label, data)
  }
}

function otherLine(event: string, label: string, data: Record<string, unknown>): string {
  const named = (build: (value: string) => string, value: string) => (value === '' ? label : build(value))
  switch (event) {
    case 'contact_updated':
      return named(words.updated, changedFields(data))
    case 'lifecycle_stage_changed':
      return words.stage(stageOf(data.from), stageOf(data.to))
    case 'deal_created':
    case 'deal_stage_changed':
    case 'deal_won':
    case 'deal_lost':
      return dealLine(event, label, data)
    case 'contact_identified':
      return named(words.identifiedBy, textOf(data.source))
    case 'segment_entered':
      return named(words.entered, textOf(data.segment_name))
    case 'segment_exited':
      return named(words.exited, textOf(data.segment_name))
    case 'agent_action_proposed':
    case 'agent_action_executed':
    case 'agent_action_failed':
      return named((type) => words.withDetail(label, type.replaceAll('_', ' ')), textOf(data.type))
    default: {
      const detail = [data.text, data.name, data.type].map(textOf).find(Boolean) ?? ''
      const what = named((value) => words.withDetail(label, value), detail)
      return on(what, textOf(data.title))
    }
  }
}

/** “Won the deal “Acme rollout” for 12,000 EUR”. */
function dealLine(event: string, label: string, data: Record<string, unknown>): string {
  const [name, stage, previous] = [data.deal_name, data.stage, data.previous_stage].map(textOf)
  if (!name) return label
  if (event === 'deal_stage_changed') return stage ? words.deal.moved(name, stage, previous ?? '') : label
  const { amount } = data
  const money = typeof amount === 'number' ? `${formatNumber(amount)} ${textOf(data.currency)}`.trim() : ''
  if (event === 'deal_won') return words.deal.won(name, money)
  return event === 'deal_lost' ? words.deal.lost(name, money) : words.deal.created(name, money)
}

function on(what: string, page: string): string {
  return page === '' ? what : words.on(what, page)
}

/** What changed: one property with its new value, if the event has it, or the names of several. */
function changedFields({ changed, properties }: Record<string, unknown>): string {
  const names = Array.isArray(changed) ? changed : Object.keys((changed ?? {}) as object)
  const [only] = names.map(String)
  if (names.length === 1 && only !== undefined) {
    const value = valueWords(only, textOf(((properties ?? {}) as Record<string, unknown>)[only]))
    if (value !== '') return words.isNow(propertyLabel(only), value)
  }
  return names
    .slice(0, 5)
    .map((name) => propertyLabel(String(name)))
    .join(', ')
}

function stageOf(stage: unknown): string {
  return valueWords('lifecyclestage', textOf(stage)) || words.noStage
}

function pathOf(url: string | null): string {
  const path = textOf(url?.replace(/^https?:\/\/[^/?#]*/, '').replace(/[?#].*$/s, ''))
  return path === '/' ? words.homePage : path
}

/** Only texts and numbers are shown in a line. */
function textOf(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  const whole = String(value).trim()
  return whole.length > LENGTH_MAX ? `${whole.slice(0, LENGTH_MAX)}…` : whole
}
