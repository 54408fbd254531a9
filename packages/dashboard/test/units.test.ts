import { globSync, readFileSync } from 'node:fs'
import { domainToASCII } from 'node:url'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { queryString, urlOf } from '../src/api/client.ts'
import { eventsOfGroup } from '../src/events/event-search.ts'
import { overviewRange } from '../src/home/overview.ts'
import {
  day,
  flag,
  given,
  oneOf,
  pageNumber,
  parseSearch,
  searchParams,
  stringifySearch,
  text,
  words,
} from '../src/session/search-params.ts'
import { text as audit } from '../src/settings/audit-text.ts'
import { SIGNING_CODE } from '../src/settings/signing-code.ts'
import { redirectTarget } from '../src/sign-in/redirect-target.ts'
import { eventLabel, eventLine } from '../src/ui/event-words.ts'
import { formatAgo, formatDay, formatMoment } from '../src/ui/format.ts'
import { withPageTimes } from '../src/ui/page-times.ts'
import { propertyLabel, propertyText, typedValue } from '../src/ui/property-value.ts'
import { daysOfPeriod, resolveRange } from '../src/ui/range.ts'
import { readableAddress } from '../src/ui/readable-address.ts'
import { placeWords } from '../src/ui/whereabouts.ts'

const read = searchParams({
  page: pageNumber,
  search: text,
  sort: oneOf('name', 'date'),
  has: flag,
  after: day,
  columns: words,
})

test('valid search parameters are kept, and others are undefined so that the router drops them', () => {
  const search = { page: '2', search: '7', sort: 'size', has: 'true', after: '2026-02-31', columns: 'a,b', evil: 'x' }
  expect(given(read(search))).toEqual({ page: 2, search: '7', has: true, columns: ['a', 'b'] })
  expect(Object.keys(read(search))).toContain('evil')
  expect(given(read({ page: '0', search: '', has: 'yes' }))).toEqual({})
})

test('a rendered query string is parsed back unchanged', () => {
  const search = given(read({ page: '3', search: 'ada & bob=?', columns: 'name,city' }))
  const query = stringifySearch(search)
  expect(query).toBe('?page=3&search=ada+%26+bob%3D%3F&columns=name,city')
  expect(given(read(parseSearch(query.slice(1))))).toEqual(search)
  expect(stringifySearch({ page: undefined, search: '' })).toBe('')
})

test('a query omits parameters without a value', () => {
  expect(queryString({ a: 1, b: undefined, c: null, d: '', e: false })).toBe('?a=1&e=false')
  expect(queryString({})).toBe('')
})

test('the ids of an operation are encoded in its path, and its other parameters are the query', () => {
  const deliveries = { subscription_id: 'one', page: 2, status: 'failed' } as const
  expect(urlOf('listWebhookDeliveries', deliveries)).toBe('/v1/webhooks/one/deliveries?page=2&status=failed')
  expect(urlOf('getVisitor', { visitor_id: 'a/b?' })).toBe('/v1/visitors/a%2Fb%3F')
})

test('a range is a number of days including today, or the chosen days in order', () => {
  const now = new Date('2026-03-10T15:02:30.000Z')
  expect(resolveRange({ range: '7d' }, now)).toEqual({ from: '2026-03-04', to: '2026-03-10' })
  expect(resolveRange({}, now)).toEqual({ from: '2026-02-11', to: '2026-03-10' })
  const chosen = { range: 'custom', from: '2026-02-03', to: '2026-02-01' } as const
  expect(resolveRange(chosen, now)).toEqual({ from: '2026-02-01', to: '2026-02-03' })
  expect(overviewRange({ range: '7d' }, now)).toEqual({ from: '2026-03-04', to: '2026-03-10T15:05:00.000Z' })
  expect(overviewRange(chosen, now)).toEqual({ from: '2026-02-01', to: '2026-02-03' })
})

test('input keeps the type of the previous value, and empty input removes it', () => {
  expect(typedValue(' 13 ', 12)).toBe(13)
  expect(typedValue('many', 12)).toBe('many')
  expect(typedValue('13', 'twelve')).toBe('13')
  expect(typedValue('TRUE', false)).toBe(true)
  expect(typedValue('a, b,', ['x'])).toEqual(['a', 'b'])
  expect(typedValue('  ', 'x')).toBeNull()
  expect(propertyLabel('shoe_size')).toBe('Shoe size')
  expect(propertyLabel('__')).toBe('__')
})

test('a line says what happened, from whatever the event has', () => {
  const line = (
    event: string,
    data: Record<string, unknown> = {},
    url: string | null = 'https://x.example/pricing?a',
  ) => eventLine({ event, url, data })
  expect(line('page_view', { title: 'Pricing' })).toBe('Viewed Pricing')
  expect(line('page_view')).toBe('Viewed /pricing')
  expect(line('page_view', {}, null)).toBe('Viewed a page')
  expect(eventLine({ event: 'page_view', url: null, data: { title: 'Pricing' }, secondsOnPage: 95.4 })).toBe(
    'Viewed Pricing for 2\u00a0min',
  )
  expect(line('page_view', { title: { toString: 'evil' } })).toBe('Viewed /pricing')
  expect(line('button_click', { text: 'Start trial', title: 'Pricing' })).toBe('Clicked “Start trial” on Pricing')
  expect(line('link_click', {}, null)).toBe('Clicked a link')
  expect(line('page_leave', { time_on_page: 45, title: 'Pricing' })).toBe('Left Pricing after 45\u00a0s')
  expect(line('page_leave', { time_on_page: 'long' })).toBe('Left /pricing')
  expect(line('form_submit', { title: 'Sign up' })).toBe('Submitted a form on Sign up')
  expect(line('video_play', { video_title: 'Tour', title: 'Home' })).toBe('Played “Tour”')
  expect(line('video_milestone', { percent: 50 })).toBe('Reached 50% of a video')
  expect(line('contact_updated', { changed: ['city', 'jobtitle'] })).toBe('Contact updated: City, Job title')
  const moved = { changed: ['city'], properties: { city: 'Turin', plan: 'pro' } }
  expect(line('contact_updated', moved)).toBe('Contact updated: City is now “Turin”')
  expect(line('contact_updated', { changed: ['city'], properties: {} })).toBe('Contact updated: City')
  expect(line('lifecycle_stage_changed', { to: 'lead' })).toBe('Lifecycle stage changed from none to Lead')
  expect(line('agent_action_proposed', { type: 'email_message' })).toBe('Agent proposed an action: email message')
  expect(line('trial_started', { name: 'Pro', title: 'Sign up' })).toBe('Trial started: Pro on Sign up')
  expect([line('constructor'), eventLabel('page_view')]).toEqual(['Constructor', 'Viewed a page'])
})

test("leaving a page becomes its view's time, summed if the page was left several times", () => {
  const at = (second: number, event: string, url: string, time?: number) => ({
    event,
    url,
    timestamp: new Date(second * 1_000).toISOString(),
    visitor_id: 'v',
    session_id: 's',
    data: time === undefined ? {} : { time_on_page: time },
  })
  const events = [
    at(9, 'page_leave', '/b', 1),
    at(8, 'page_leave', '/a', 3),
    at(6, 'page_leave', '/a', 2),
    at(6, 'page_view', '/a'),
    at(1, 'page_view', '/c'),
  ]
  const shown = withPageTimes(events).map(({ event, url, secondsOnPage }) => [event, url, secondsOnPage])
  expect(shown).toEqual([
    ['page_leave', '/b', undefined],
    ['page_view', '/a', 5],
    ['page_view', '/c', undefined],
  ])
})

test.each([
  [-90_000, /^1 min\.? ago$/],
  [-6.5 * 86_400_000, /^6 days ago$/],
  [-6.9 * 86_400_000, /^6 days ago$/],
  [6.9 * 86_400_000, /^in 7 days$/],
  [1_000, /^just now$/],
  [-30_000, /^just now$/],
  [45_500, /^in 4[56] sec\.?$/],
])('a moment %d ms from now is %s', (distance, words) => {
  expect(formatAgo(new Date(Date.now() + distance).toISOString())).toMatch(words)
})

test.each([
  [
    { country: 'DE', region: 'North Rhine-Westphalia', city: 'Bielefeld' },
    'Bielefeld, North Rhine-Westphalia, Germany',
  ],
  [{ country: 'DE', region: 'Berlin', city: 'Berlin' }, 'Berlin, Germany'],
  [{ country: 'AT', region: null, city: null }, 'Austria'],
  [{ country: 'Österreich', region: null, city: null }, 'Österreich'],
  [{ country: null, region: null, city: null }, null],
])('the place %j in words', (place, words) => {
  expect(placeWords(place)).toBe(words)
})

test('a time names its time zone', () => {
  const zone = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' })
    .formatToParts(new Date('2026-01-31T12:00:00Z'))
    .find(({ type }) => type === 'timeZoneName')
  expect(formatMoment('2026-01-31T12:00:00Z')).toContain(zone?.value)
})

test('a calendar day is the same west of Greenwich, where a moment may be of the day before', async () => {
  vi.stubEnv('TZ', 'America/Los_Angeles')
  onTestFinished(() => void vi.unstubAllEnvs())
  // Loaded again, because its formats have the time zone of when they were made.
  const fresh = new URL('../src/ui/format.ts?west', import.meta.url).href
  const west: typeof import('../src/ui/format.ts') = await import(fresh)
  const { from, to } = resolveRange({ range: 'custom', from: '2026-01-01', to: '2026-01-05' })
  expect([from, to].map(west.formatDay)).toEqual([from, to].map(formatDay))
  expect(west.formatDay('2026-01-01T04:00:00Z')).toBe(formatDay('2025-12-31'))
})

test.each([
  ['2026-01-31', '2026-01-31', '2026-01-31'],
  ['2024-02', '2024-02-01', '2024-02-29'],
  ['2026-12', '2026-12-01', '2026-12-31'],
  ['2026-W01', '2025-12-29', '2026-01-04'],
  ['2020-W53', '2020-12-28', '2021-01-03'],
  ['2023-W01', '2023-01-02', '2023-01-08'],
])('the days of %s are %s to %s', (period, from, to) => {
  expect(daysOfPeriod(period)).toEqual({ from, to })
})

test('the list of a group has its filters and its value, within the selected days', () => {
  const days = { range: 'custom', from: '2026-01-07', to: '2026-03-20' } as const
  const within = { date_after: '2026-01-07', date_before: '2026-03-20' }
  const counted = { ...days, is_bot: false }
  expect(eventsOfGroup({ ...counted, group_by: 'url_path' }, '/')).toEqual({ ...within, is_bot: false, url_path: '/' })
  expect(eventsOfGroup({ ...days, group_by: 'is_bot' }, false)).toEqual({ ...within, is_bot: false })
  expect(eventsOfGroup({ ...days, group_by: 'week' }, '2026-W02')).toEqual({ ...within, date_before: '2026-01-11' })
  expect(eventsOfGroup({ ...days, group_by: 'month' }, '2026-03')).toEqual({ ...within, date_after: '2026-03-01' })
  expect(eventsOfGroup({ ...days, group_by: 'company_id' }, 'x')).toMatchObject({ company_id: 'x' })
  for (const dimension of ['class'] as const) {
    expect(eventsOfGroup({ ...days, group_by: dimension }, 'x')).toBeUndefined()
  }
  expect(eventsOfGroup({ ...days, group_by: 'browser' }, null)).toBeUndefined()
})

test('the signing code is the same as in the documentation, which a test runs', () => {
  const document = readFileSync('docs/identification.md', 'utf8')
  const documented = ['js', 'python', 'php', 'go'].map(
    (language) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\n\`\`\``).exec(document)?.[1],
  )
  expect(Object.values(SIGNING_CODE)).toEqual(documented)
})

test('every action that the service audits has a sentence, and no sentence is left over', () => {
  const audited = globSync('packages/server/src/**/*.ts')
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => /\baction\b|entry\w*\(/i.test(line))
    .flatMap((line) => [...line.matchAll(/'([a-z_]+\.[a-z_]+)'/g)].map(([, action]) => action))
  // Most of them are `action.${verb}` in agents/actions/audit.ts.
  const isOfAction = (action = '') => action.startsWith('action.')
  const named = Object.keys(audit.actions).filter((action) => !isOfAction(action))
  expect([...new Set(audited)].filter((action) => !isOfAction(action)).toSorted()).toEqual(named.toSorted())
})

test.each([
  ['/contacts?search=ada', '/contacts?search=ada'],
  ['/', '/'],
  [undefined, '/'],
  ['//evil.example/', '/'],
  ['https://evil.example/', '/'],
  ['/\\evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['contacts', '/'],
  ['', '/'],
])('a sign-in that was asked to lead to %j leads to %s', (redirect, target) => {
  expect(redirectTarget(redirect)).toBe(target)
})

describe('an email address', () => {
  test.each([
    'bücher.example',
    'straße.example',
    '例子.广告',
    'i❤.example',
    'なぜみんな日本語を話してくれないのか.example',
    'porquénopuedensimplementehablarenespañol.example',
    '😀.example',
  ])('at %s is shown in the letters of its domain', (domain) => {
    const stored = `kim@${domainToASCII(domain)}`
    expect(stored).toContain('xn--')
    expect(readableAddress(stored)).toBe(`kim@${domain.normalize('NFKC')}`)
    expect(propertyText(stored)).toBe(`kim@${domain.normalize('NFKC')}`)
  })

  test.each([
    'ann@example.com',
    'xn--bcher-kva.example',
    'see kim@xn--bcher-kva.example',
    'kim@xn--99999999999.example',
    '',
  ])('or another text stays as it is: %j', (text) => {
    expect(readableAddress(text)).toBe(text)
  })

  test.each([
    ['one label', `a@xn--${'a'.repeat(200_000)}`],
    ['many labels', `a@${'.xn--'.repeat(60_000)} `],
  ])('and so does one that is too long for an address: %s', (_, text) => {
    expect(readableAddress(text)).toBe(text)
  })
})
