import { shown } from '../../platform/characters.ts'
import { DAY_MS } from '../../platform/time.ts'
import { type ActionType, type Check, isOutbound, type ProposedAction } from '../action-types.ts'

/** What a model may take what it writes from. */
export interface Sources {
  /** Written by the tenant's users: the playbook and the other instructions. */
  instructions: string
  /** The tenant's own values: of the playbook's variables and settings. */
  settings: unknown
  /** The contact's data and the results of tools, some of which strangers wrote. */
  data: readonly unknown[]
  /** Values that a message to the contact may contain: its own address and number. */
  own: readonly string[]
  /** The tenant's domains, whose subdomains are the tenant's too. */
  domains: readonly string[]
}

/** Problems that a message names. */
const PROBLEMS_MAX = 5
const SHOWN_MAX = 60

const LINK = /\b(?:[a-z][a-z0-9+.-]{0,20}:\/\/|www\.)[^\s<>()[\]"'“”]+/giu
const HOST = /(?<![@\p{L}\p{N}_.-])(?:[\p{L}\p{N}][\p{L}\p{N}-]{0,62}\.)+\p{L}{2,24}(?![\p{L}\p{N}_-])/gu
/** Ends of words that look like hosts: files and the names of libraries. */
const NO_HOST = /\.(?:js|pdf|csv|docx?|xlsx?|pptx?|txt|png|jpe?g|gif|html?|json|xml)$/i
const EMAIL = /[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.)+\p{L}{2,24}/gu
const PHONE = /(?<![\w.])(?:\+|00|\(0)[\d\s()./-]{6,20}\d|(?<![\w.,-])\d[\d\s()./-]{7,20}\d(?![\w-])/gu
const CURRENCY = '[€$£¥₹]|USD|EUR|GBP|CHF|JPY|INR'
const AMOUNT = new RegExp(
  `(?:${CURRENCY})\\s?\\d[\\d.,']{0,20}|\\d[\\d.,']{0,20}\\s?(?:%|percent\\b|(?:${CURRENCY}|dollars?|euros?|pounds?)(?![\\p{L}]))`,
  'giu',
)
const MONTHS = 'January|February|March|April|May|June|July|August|September|October|November|December'
const DATE = new RegExp(
  [
    '\\b\\d{4}-\\d{2}-\\d{2}(?!\\d)',
    '\\b(?:0?[1-9]|[12]\\d|3[01])\\.\\s?(?:0?[1-9]|1[0-2])\\.(?:\\s?\\d{4}\\b|(?!\\d))',
    '\\b\\d{1,2}/\\d{1,2}/\\d{4}\\b',
    `\\b\\d{1,2}(?:st|nd|rd|th)?\\s(?:${MONTHS})\\b`,
    `\\b(?:${MONTHS})\\s\\d{1,2}(?:st|nd|rd|th)?\\b`,
  ].join('|'),
  'giu',
)
const QUOTED = /“([^“”]{3,150})”|"([^"\n]{3,150})"|«([^«»]{3,150})»|„([^„“”]{3,150})[“”]/gu
/** What stands in place of a value: a variable, a pseudonym or what hides people in examples. */
const PLACEHOLDER =
  /\{\{[^{}]*\}\}|\[(?:first name|last name|name|email address|phone number|address|URL|personal value|your name|company)\]|\b(?:firstname|lastname|name|username|email|phone|address|birthday|url|value):[0-9a-z]{8}[0-9a-z~-]{4,}/giu

/**
 * Compares what a model wrote with what it knew. It cannot tell whether a sentence is true, but what can do harm or be invented
 * has a form: links, addresses, amounts, dates and quotations.
 *
 * Where a text leads, and what it promises, must come from the tenant: a stranger can write a link or a discount into a form or a
 * page title, and a model may repeat it. Amounts may also be numbers of properties. Dates and quotations may come from any data.
 *
 * @param texts of the action. Those that stay inside are only checked for where they lead.
 */
function checkFacts(type: ActionType, texts: readonly string[], sources: Sources): Check {
  const text = texts.join('\n')
  const leading = leadsElsewhere(text, sources)
  const problems = [
    ...named('the placeholder', matches(text, PLACEHOLDER)),
    ...leading,
    ...(isOutbound(type) ? inventedIn(withoutPlaces(text), sources) : []),
  ]
  if (problems.length === 0) {
    const what = isOutbound(type) ? 'link, address, amount, date and quotation' : 'link and address'
    return { rule: 'facts', passed: true, message: `Every ${what} is from the agent's settings or the data.` }
  }
  const some = problems.slice(0, PROBLEMS_MAX)
  const more = problems.length > some.length ? ` and ${problems.length - some.length} more` : ''
  const message = `Neither your settings nor the data vouch for ${some.join(', ')}${more}. Check before you approve.`
  return { rule: 'facts', passed: false, message }
}

/** All checks of the texts of an action. @param namedIn the other contacts that a text names */
export async function checkTexts(
  { type, params }: ProposedAction,
  sources: Sources,
  namedIn: (text: string) => Promise<string[]>,
): Promise<Check[]> {
  const texts = textsIn(params)
  const others = await namedIn(texts.join('\n'))
  const names = others.slice(0, PROBLEMS_MAX).map((name) => shown(name, SHOWN_MAX))
  const more = others.length > names.length ? ` and ${others.length - names.length} more` : ''
  const message =
    others.length === 0
      ? 'It names no other contact.'
      : `It names other contacts: ${names.join(', ')}${more}. Check before you approve.`
  return [checkFacts(type, texts, sources), { rule: 'other_people', passed: others.length === 0, message }]
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsIn) : []
}

/** Links, addresses and numbers that are not the tenant's and not the contact's. */
function leadsElsewhere(text: string, { instructions, own, domains }: Sources): string[] {
  const trusted = new Set(hostsIn(instructions))
  const isOurs = (host: string) =>
    trusted.has(host) || domains.some((domain) => host === domain || host.endsWith(`.${domain}`))
  const known = [instructions, ...own].join('\n')
  const addresses = new Set(matches(known, EMAIL).map((address) => address.toLowerCase()))
  const emails = matches(text, EMAIL).filter((address) => {
    const lower = address.toLowerCase()
    return !addresses.has(lower) && !isOurs(lower.slice(lower.indexOf('@') + 1))
  })
  const hosts = hostsIn(text.replace(EMAIL, ' ')).filter((host) => !isOurs(host))
  const numbers = new Set([...matches(known, PHONE), ...own].map(endOfNumber))
  const phones = matches(text.replace(LINK, ' ').replace(DATE, ' '), PHONE).filter(
    (number) => endOfNumber(number).length >= 7 && !numbers.has(endOfNumber(number)),
  )
  return [...named('the link to', hosts), ...named('the address', emails), ...named('the number', phones)]
}

/** The last digits of a phone number, which are the same with and without the country's prefix. */
function endOfNumber(text: string): string {
  return text.replace(/\D/g, '').replace(/^0+/, '').slice(-9)
}

/** The hosts of URLs, and what a mail program would make a link of. */
function hostsIn(text: string): string[] {
  const ofUrls = matches(text, LINK).map((url) => {
    const full = /^www\./i.test(url) ? `https://${url}` : url
    return URL.parse(full.replace(/[.,;:!?]+$/, ''))?.hostname.replace(/^www\./, '') || url
  })
  const bare = matches(text.replace(LINK, ' '), HOST).filter((host) => !NO_HOST.test(host))
  return [...new Set([...ofUrls, ...bare].map((host) => host.toLowerCase()))]
}

/** Amounts, dates and quotations that are neither in the instructions nor in the data. */
function inventedIn(text: string, { instructions, settings, data }: Sources): string[] {
  const found = collect(data)
  const days = new Set([...found.days, ...matches(instructions, DATE).flatMap((date) => dayOf(date) ?? [])])
  const values = collect([{ properties: settings }])
  const numbers = new Set([...found.numbers, ...values.numbers, ...values.texts.filter(isNumber).map(numberOf)])
  const promised = new Set(matches(instructions, AMOUNT).map(amountOf))
  const words = wordsOf([instructions, ...found.texts].join(' \n '))
  const dates = matches(text, DATE).filter((date) => {
    const day = dayOf(date)
    return day !== null && !days.has(day)
  })
  const amounts = matches(text.replace(DATE, ' '), AMOUNT).filter(
    (amount) => !promised.has(amountOf(amount)) && !numbers.has(numberOf(amount)),
  )
  const quoted = [...text.matchAll(QUOTED)]
    .flatMap(([, ...groups]) => groups.find((group) => group !== undefined) ?? [])
    .filter((quotation) => !words.includes(wordsOf(quotation)))
  return [...named('the amount', amounts), ...named('the date', dates), ...named('the quotation', quoted)]
}

/** URLs and addresses are judged as such, not by the numbers in them. */
function withoutPlaces(text: string): string {
  return text.replace(LINK, ' ').replace(EMAIL, ' ')
}

interface Collected {
  texts: string[]
  numbers: Set<string>
  days: Set<string>
}

/**
 * What is in the data: texts, numbers of properties, and days with those beside them, because of time zones. Other numbers are
 * counts, and a discount of 1% is not vouched for by one visit.
 */
function collect(data: readonly unknown[]): Collected {
  const found: Collected = { texts: [], numbers: new Set(), days: new Set() }
  const waiting = data.map((value) => ({ value, isProperty: false }))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, isProperty } = next
    if (typeof value === 'number' && isProperty) found.numbers.add(numberOf(String(value)))
    if (typeof value === 'string') {
      found.texts.push(value)
      for (const date of matches(value, DATE)) {
        const at = Date.parse(date)
        const around = /^\d{4}-/.test(date) && !Number.isNaN(at) ? [-1, 0, 1].map((days) => at + days * DAY_MS) : []
        const near = around.map((time) => new Date(time).toISOString().slice(5, 10))
        for (const day of [...near, dayOf(date) ?? []].flat()) found.days.add(day)
      }
    }
    if (value === null || typeof value !== 'object') continue
    for (const [name, each] of Object.entries(value)) {
      waiting.push({ value: each, isProperty: isProperty || name === 'properties' || name === 'company' })
    }
  }
  return found
}

/** Month and day of a date, as `09-03`; null if it is none. */
function dayOf(date: string): string | null {
  const iso = /^\d{4}-(\d{2}-\d{2})$/.exec(date)
  if (iso) return iso[1] ?? null
  const dotted = /^(\d{1,2})\.\s?(\d{1,2})\./.exec(date)
  if (dotted) return padded(dotted[2], dotted[1])
  const slashed = /^(\d{1,2})\/(\d{1,2})\//.exec(date)
  if (slashed) return padded(slashed[1], slashed[2])
  const month = MONTHS.split('|').findIndex((name) => date.toLowerCase().includes(name.toLowerCase()))
  return month < 0 ? null : padded(String(month + 1), /\d+/.exec(date)?.[0])
}

function padded(month = '', day = ''): string {
  return `${month.padStart(2, '0')}-${day.padStart(2, '0')}`
}

/** A number in one spelling: `1,200.50` and `1200.5` are the same. */
function numberOf(text: string): string {
  const digits = (/\d[\d.,' ]*/.exec(text)?.[0] ?? '').replace(/[' ]/g, '').replace(/[.,]+$/, '')
  const plain = digits.replace(/[.,](?=\d{3}(?:\D|$))/g, '').replace(',', '.')
  return String(Number(plain))
}

function isNumber(text: string): boolean {
  return /^[\d.,' ]+$/.test(text)
}

/** An amount in one spelling: `€1,200` and `1200 EUR` are the same, `20%` and `$20` are not. */
function amountOf(amount: string): string {
  const unit = UNITS.find(([, pattern]) => pattern.test(amount))?.[0] ?? amount.replace(/[\d.,'\s]/g, '').toUpperCase()
  return `${numberOf(amount)} ${unit}`
}

const UNITS = [
  ['%', /%|percent/i],
  ['EUR', /€|EUR/i],
  ['USD', /\$|USD|dollar/i],
  ['GBP', /£|GBP|pound/i],
  ['JPY', /¥|JPY/i],
  ['INR', /₹|INR/i],
] as const

function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

function matches(text: string, pattern: RegExp): string[] {
  return [...new Set(text.match(pattern) ?? [])].map((found) => found.trim())
}

function named(what: string, found: readonly string[]): string[] {
  return found.map((each) => `${what} ${shown(each.slice(0, SHOWN_MAX))}`)
}
