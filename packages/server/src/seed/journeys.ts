import { campaignOf } from '../journal/campaign.ts'
import { episodeId } from '../journal/episodes.ts'
import type { EventRecord } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import { NOWHERE } from '../platform/places.ts'
import { DAY_MS } from '../platform/time.ts'
import { locate, referringDomain } from '../sites/track/location.ts'
import { parseUserAgent } from '../sites/track/user-agent.ts'
import type { Random } from './random.ts'
import { type Day, ORDINARY_DAY } from './story.ts'

/** Weights of the hours of a day (UTC) and of the days of a week (from Sunday). */
const HOURS = [2, 1, 1, 1, 1, 2, 4, 7, 11, 14, 15, 14, 13, 15, 16, 15, 13, 11, 9, 8, 7, 6, 4, 3]
const WEEKDAYS = [0.45, 1, 1.1, 1.15, 1.1, 0.9, 0.4]
/** Share by which the first day is quieter than the last one. */
const GROWTH = 0.5
const BOT_SHARE = 0.04

const BROWSERS = [
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36',
    38,
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36',
    30,
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Mobile/15E148 Safari/604.1',
    18,
  ],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0', 8],
  [
    'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Mobile Safari/537.36',
    12,
  ],
] as const
const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const COUNTRIES = ['US', 'US', 'US', 'DE', 'DE', 'GB', 'GB', 'FR', 'NL', 'IN', 'BR', '']
const SCREENS = ['1920x1080', '1440x900', '2560x1440', '390x844', '412x915']
const REFERRERS = [
  ['', 45],
  ['https://www.google.com/', 30],
  ['https://news.example/stories/tools', 8],
  ['https://www.linkedin.com/', 9],
  ['https://partner.example/integrations', 5],
] as const
const LANDINGS = [
  ['/', 40],
  ['/blog/first-party-data', 14],
  ['/blog/identity-resolution', 10],
  ['/pricing', 16],
  ['/product/webhooks', 9],
  ['/docs/quickstart', 11],
] as const
const NEXT = [
  '/pricing',
  '/product/events',
  '/product/webhooks',
  '/docs/quickstart',
  '/customers',
  '/blog/first-party-data',
]
const TITLES: Record<string, string> = {
  '/': 'Know your customers',
  '/pricing': 'Pricing',
  '/signup': 'Create your account',
  '/customers': 'Customer stories',
  '/docs/quickstart': 'Quickstart',
  '/product/events': 'Events',
  '/product/webhooks': 'Webhooks',
  '/blog/first-party-data': 'Why first-party data wins',
  '/blog/identity-resolution': 'Identity resolution, explained',
}

/** A visitor, who always uses the same browser, and the contact that they are identified as, if any. */
export interface SampleVisitor {
  visitorId: string
  contactId: string | null
  userAgent: string
  screen: string
  /** Whether they signed up for the product. */
  hasAccount?: boolean
}

export function sampleVisitor(random: Random, contactId: string | null): SampleVisitor {
  const isBot = contactId === null && random.chance(BOT_SHARE)
  return {
    visitorId: newId(),
    contactId,
    userAgent: isBot ? BOT : random.weighted(BROWSERS),
    screen: random.pick(SCREENS),
  }
}

/** A timestamp within the last `days` days, more often in busy hours, on working days and recently. */
export function sampleTimestamp(random: Random, now: number, days: number): number {
  for (;;) {
    const age = random.integer(0, Math.max(0, days - 1))
    if (random.chance((GROWTH * age) / days)) continue
    const day = new Date(now - age * DAY_MS)
    if (random.next() > (WEEKDAYS[day.getUTCDay()] ?? 1) / 1.2) continue
    const hour = random.weighted(HOURS.map((weight, index) => [index, weight] as const))
    const timestamp =
      Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate(), hour) + random.integer(0, 3_599_999)
    if (timestamp < now) return timestamp
  }
}

/** The campaign brings people who want the product. */
const TRIAL_SHARE = { ofCampaign: 0.55, ofOthers: 0.3 }
/** How many of those who see the form for a new account send it. The others' addresses are never confirmed. */
const SIGN_UP_SHARE = { ofContacts: 0.8, ofOthers: 0.2 }
/** A button that does nothing is clicked again. */
const CLICKS_OF_DEAD_BUTTON = [2, 4] as const

type Add = (event: string, url: string, data: Record<string, string | number>) => void

/** The events of one visit: a landing page, some more pages, clicks, and leaving. Whoever signs up does it once. */
export function sampleSession(
  random: Random,
  tenantId: string,
  site: string,
  visitor: SampleVisitor,
  start: number,
  { day = ORDINARY_DAY, referrer: from }: { day?: Day; referrer?: string } = {},
): EventRecord[] {
  const sessionId = newId()
  const landing = random.weighted(LANDINGS)
  const isOfCampaign = from === undefined && random.chance(day.campaignShare)
  const campaign = `?utm_source=newsletter&utm_medium=email&utm_campaign=${day.campaign}`
  let at = start
  let referrer: string = from ?? random.weighted(REFERRERS)
  const events: EventRecord[] = []
  const add: Add = (event, url, data) => {
    events.push(toRecord({ tenantId, visitor, sessionId, event, url, referrer, data, at }))
  }
  const isBot = visitor.userAgent === BOT
  const trialShare = isOfCampaign ? TRIAL_SHARE.ofCampaign : TRIAL_SHARE.ofOthers
  let path: string = landing
  let pages = isBot ? 1 : random.integer(1, 6)
  for (let page = 0; page < pages; page++) {
    const url = `https://${site}${path}${page === 0 && isOfCampaign ? campaign : ''}`
    add('page_view', url, { title: TITLES[path] ?? path, path, load_time: random.integer(180, 2_400) })
    const seconds = random.integer(4, 180)
    at += seconds * 500
    const startsTrial = !isBot && path === '/pricing' && !visitor.hasAccount && random.chance(trialShare)
    if (startsTrial) {
      const clicks = day.canStartTrial ? 1 : random.integer(...CLICKS_OF_DEAD_BUTTON)
      for (let click = 0; click < clicks; click++) clickButton('Start free trial', url, add)
    } else if (!isBot) clickSomething(random, path, url, add)
    if (path === '/signup') signUp(random, visitor, url, add)
    at += seconds * 500
    add('page_leave', url, { path, time_on_page: seconds })
    referrer = url
    path = random.pick(NEXT)
    if (startsTrial) {
      path = day.canStartTrial ? '/signup' : '/pricing'
      pages = day.canStartTrial ? Math.max(pages, page + 2) : page + 1
    }
  }
  return events
}

function clickButton(text: string, url: string, add: Add): void {
  add('button_click', url, { text, class: 'btn btn-primary', id: text.toLowerCase().replaceAll(' ', '-') })
}

function signUp(random: Random, { contactId }: SampleVisitor, url: string, add: Add): void {
  if (!random.chance(contactId === null ? SIGN_UP_SHARE.ofOthers : SIGN_UP_SHARE.ofContacts)) return
  add('form_submit', url, { formId: 'signup', action: '/signup', method: 'post' })
  if (contactId !== null) add('signed_up', url, { plan: 'trial' })
}

function clickSomething(random: Random, path: string, url: string, add: Add): void {
  if (path === '/pricing' && random.chance(0.3)) {
    clickButton(random.pick(['Talk to sales', 'Compare plans']), url, add)
  } else if (path === '/' && random.chance(0.2)) {
    add('video_play', url, { title: 'Product tour' })
    if (random.chance(0.5)) add('video_complete', url, { title: 'Product tour' })
  } else if (random.chance(0.25)) {
    add('link_click', url, { text: 'Read the docs', href: '/docs/quickstart', link_type: 'internal' })
  }
}

interface Parts {
  tenantId: string
  visitor: SampleVisitor
  sessionId: string
  event: string
  url: string
  referrer: string
  data: Record<string, string | number>
  at: number
}

const ELEMENTS: Record<string, string> = { button_click: 'button', link_click: 'link', form_submit: 'form' }

/** An event as the tracker would have sent it. */
export function toRecord({ tenantId, visitor, sessionId, event, url, referrer, data, at }: Parts): EventRecord {
  const { domain, path } = locate(url)
  const { browser, os, deviceType, isBot } = parseUserAgent(visitor.userAgent)
  return {
    tenant_id: tenantId,
    event_id: newId(),
    event,
    is_system: false,
    timestamp: at,
    received_at: at,
    visitor_id: visitor.visitorId,
    session_id: sessionId,
    owner_id: visitor.contactId ?? episodeId(tenantId, visitor.visitorId, 0),
    is_anonymous: visitor.contactId === null,
    url,
    url_path: path,
    domain,
    title: String(data.title ?? ''),
    text: String(data.text ?? ''),
    class: String(data.class ?? ''),
    element_id: String(data.id ?? ''),
    element_type: ELEMENTS[event] ?? (event.startsWith('video_') ? 'video' : ''),
    referrer,
    referring_domain: referringDomain(referrer, domain),
    ...campaignOf(url),
    ...NOWHERE,
    country: COUNTRIES[Number.parseInt(visitor.visitorId.slice(-2), 16) % COUNTRIES.length] ?? '',
    browser,
    os,
    device_type: deviceType,
    is_bot: isBot,
    origin_mismatch: false,
    screen: visitor.screen,
    language: 'en',
    timezone: '',
    analytics_user_id: '',
    user_agent: visitor.userAgent,
    data: JSON.stringify(data),
  }
}
