import type { FastifyRequest } from 'fastify'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ServiceError } from '../../server/src/platform/errors.ts'
import type { App } from '../../server/src/platform/http/app-types.ts'
import { createSegment } from '../../server/src/segments/segments.ts'
import { createSubscription } from '../../server/src/webhooks/subscriptions.ts'
import { MAIL, propose } from '../../server/test/actions.ts'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { insertConnection } from '../../server/test/connected-system.ts'
import { insertGrant } from '../../server/test/one-of-each.ts'
import { createPerson } from '../../server/test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { until } from '../../server/test/webhooks.ts'
import {
  accessibilityProblems,
  checkWholePage,
  DESK,
  leavePage,
  openBrowser,
  openWithin,
  show,
  type TestBrowser,
} from './browser.ts'

const NAMES = [
  'agent',
  'alert',
  'company',
  'computed',
  'connection',
  'contact',
  'dashboard',
  'delivery',
  'event',
  'identity',
  'run',
  'segment',
  'webhook',
] as const
type Ids = Record<(typeof NAMES)[number], string>

interface Place {
  /** `:agent` and the like are replaced by ids. */
  path: string
  /** What it shows to a tenant that has one of everything. */
  shows: string
  /** What it shows to an empty tenant. Absent if there is always data. */
  empty?: string
  /** Secondary requests: a name, a count, a suggestion, another tab. */
  beside?: RegExp
  /** By the path of a request for a picker's list: opens the picker, which then says that it failed. */
  pickers?: Record<string, (page: Page) => Promise<void>>
}

const openFilters = (page: Page) => page.getByRole('button', { name: /^Filters/ }).click()
const openList = (page: Page, name: string) => page.getByRole('combobox', { name, exact: true }).last().click()

const openProperties = async (page: Page) => {
  await page.getByRole('button', { name: 'Property', exact: true }).click()
  await openList(page, 'Property')
}

/** Of a builder of segments. */
const BUILDER = {
  '/v1/properties': openProperties,
  '/v1/segments': async (page: Page) => {
    await openProperties(page)
    await page.getByRole('option', { name: 'Segment segment' }).click()
    await openList(page, 'Segments')
  },
  '/v1/events/types': async (page: Page) => {
    await page.getByRole('button', { name: 'Event', exact: true }).click()
    await openList(page, 'Event')
  },
}

const OF_EVENTS = {
  '/v1/properties': async (page: Page) => {
    await openFilters(page)
    await openProperties(page)
  },
  '/v1/events/types': async (page: Page) => {
    await openFilters(page)
    await openList(page, 'Event')
  },
}

const OF_WEBHOOKS = {
  '/v1/properties': openProperties,
  '/v1/events/types': (page: Page) => openList(page, 'Event'),
}

/** Every page behind the sign-in, and every tab. */
const PLACES: Place[] = [
  { path: '/', shows: 'Top pages', empty: 'Three steps to your first event', beside: /tracker/ },
  {
    path: '/contacts',
    shows: 'Ada Lovelace',
    empty: 'No contacts yet',
    beside: /views|properties|types|segments/,
  },
  { path: '/contacts/:contact', shows: 'Pricing', beside: /notes|segments|types|properties/ },
  {
    path: '/contacts/:contact?tab=notes',
    shows: 'No notes yet',
    beside: /events|timeline|segments|properties/,
  },
  {
    path: '/contacts/:contact?tab=conversations',
    shows: 'No conversations',
    beside: /events|timeline|notes|segments|properties/,
  },
  {
    path: '/contacts/:contact?tab=profile',
    shows: 'with the same values',
    beside: /events|timeline|notes|segments|properties/,
  },
  {
    path: '/contacts/:contact?tab=actions',
    shows: 'email message',
    beside: /timeline|notes|segments|properties/,
  },
  { path: '/companies', shows: 'Engines', empty: 'No companies yet', beside: /views|properties/ },
  { path: '/companies/:company', shows: 'No contacts in this company', beside: /properties/ },
  { path: '/companies/:company?tab=activity', shows: 'No events', beside: /contacts|types|properties/ },
  { path: '/events', shows: 'Pricing', empty: 'No events yet', beside: /views/, pickers: OF_EVENTS },
  { path: '/events/groups', shows: 'Viewed a page', empty: 'Nothing to count' },
  { path: '/events/visits', shows: 'Direct visit', empty: 'No visits on these days' },
  { path: '/events/:event', shows: 'Pricing' },
  { path: '/insights', shows: 'Viewed a page: people', empty: 'No events yet', beside: /types|properties/ },
  { path: '/insights/funnel', shows: '100%', empty: 'No events yet', beside: /types|properties/ },
  { path: '/insights/retention', shows: 'Average', empty: 'No events yet', beside: /types|properties/ },
  { path: '/insights/paths', shows: 'Paths of visits', empty: 'No events yet', beside: /types|properties/ },
  { path: '/insights/web', shows: 'Visit duration', empty: 'No events yet', beside: /types|properties/ },
  { path: '/duplicates', shows: 'The email addresses differ only', empty: 'No duplicates' },
  { path: '/insights/reports', shows: 'Trend', empty: 'No reports yet' },
  { path: '/insights/alerts', shows: 'Above 1,000', empty: 'No alerts yet' },
  { path: '/insights/alerts/new', shows: 'Choose a report to see' },
  { path: '/insights/alerts/:alert', shows: 'Save changes' },
  { path: '/insights/dashboards', shows: 'Board of all', empty: 'No dashboards yet', beside: /stats/ },
  { path: '/insights/dashboards/:dashboard', shows: 'Any event', beside: /properties/ },
  { path: '/segments', shows: 'People of Engines', empty: 'No segments yet', beside: /properties/ },
  { path: '/segments/new', shows: 'Create segment', beside: /overview|suggestions/, pickers: BUILDER },
  { path: '/segments/:segment', shows: 'No contacts in this segment', beside: /properties/ },
  { path: '/segments/:segment/edit', shows: 'Save', beside: /overview|suggestions/, pickers: BUILDER },
  { path: '/approvals', shows: 'Ada Lovelace', empty: 'Nothing to approve' },
  { path: '/agents', shows: 'Scout', empty: 'No agents yet', beside: /playbooks/ },
  { path: '/agents/new', shows: 'Pricing visitor follow-up', beside: /check|properties|segments/ },
  { path: '/agents/settings', shows: 'Save' },
  { path: '/agents/:agent', shows: 'Scout', beside: /properties|playbooks|identities/ },
  { path: '/agents/:agent/outcomes', shows: 'Version 1', beside: /^\/v1\/agents\/[^/]+$/ },
  { path: '/agents/:agent/edit', shows: 'Save', beside: /check|properties|segments|identities|types/ },
  { path: '/agents/runs/:run', shows: 'They asked.', beside: /^\/v1\/agents\/[^/]+$/ },
  { path: '/identities', shows: 'Grace Hopper', empty: 'No senders yet' },
  { path: '/identities/:identity', shows: 'Grace Hopper' },
  { path: '/connections', shows: 'Engine Works', empty: 'No connected systems yet', beside: /connectors/ },
  { path: '/connections/new', shows: 'Pipedrive' },
  { path: '/connections/new/pipedrive', shows: 'API token' },
  { path: '/connections/:connection', shows: 'a value that is too long', beside: /connectors/ },
  { path: '/webhooks', shows: 'page_view', empty: 'No webhooks yet' },
  { path: '/webhooks/new', shows: 'Create webhook', pickers: OF_WEBHOOKS },
  { path: '/webhooks/:webhook', shows: 'page_view' },
  { path: '/webhooks/:webhook/deliveries/:delivery', shows: 'Attempts' },
  { path: '/settings/profile', shows: 'Your name' },
  { path: '/settings/team', shows: 'Robin Marsh', empty: 'No pending invitations' },
  { path: '/settings/workspace', shows: 'Test' },
  {
    path: '/settings/tracker',
    shows: 'We received your first event',
    empty: 'Waiting for your first',
    beside: /domains/,
  },
  { path: '/settings/domains', shows: 'verified', beside: /tracker|tenant/ },
  { path: '/settings/identification', shows: 'Sign on your server' },
  {
    path: '/settings/computed-properties',
    shows: 'Score of 1 rule',
    empty: 'No computed properties yet',
    beside: /v1\/properties/,
  },
  { path: '/settings/computed-properties/new', shows: 'Add a rule', beside: /overview|suggestions/, pickers: BUILDER },
  { path: '/settings/computed-properties/:computed', shows: 'Save', beside: /v1\/properties|segments|suggestions/ },
  { path: '/settings/enrichment', shows: 'Names from mails' },
  { path: '/settings/sources', shows: 'Shop backend', empty: 'No sources yet' },
  { path: '/settings/keys', shows: 'all' },
  { path: '/settings/connected-apps', shows: 'Assistant', empty: 'No connected apps' },
  { path: '/settings/oauth-clients', shows: 'HubSpot' },
  { path: '/settings/limits', shows: 'Rate limits are off' },
  { path: '/settings/audit', shows: 'Created a sender', empty: 'No changes yet' },
  { path: '/settings/data', shows: 'No exports yet', empty: 'No erasures yet' },
]

/** Loading the app is the same for every page of a kind: the start, a list, a record's tab, a part of one, a form for some roles, a setting. */
const LOADED = new Set([
  '/',
  '/contacts',
  '/contacts/:contact?tab=notes',
  '/webhooks/:webhook/deliveries/:delivery',
  '/segments/new',
  '/settings/team',
])

const LOADING = ['[role=status][aria-label^=Load]', '[role=status][aria-label^=Count]', '[aria-busy=true]'].join(', ')
const REFUSAL = 'This was refused by the test.'

let service: TestService
let browser: TestBrowser
let full: TestTenant
let ids: Ids
let page: Page
/** The page's requests, by path. */
const asked = new Set<string>()
/** Responses wait for this. */
let blocked: Promise<void> | undefined
let isRefused = (_path: string) => false
/** Pages with a request that was refused, and the page said so. */
const proven = new Set<string>()

/** The path of a page's data; the session, the live feed and the count of pending actions belong to the frame. */
function dataPath(url: string): string | null {
  const { pathname, search } = new URL(url, service.url)
  const isFrame = /^\/(api\/(me|auth\/.*)|v1\/live)$/.test(pathname) || pathname + search === '/v1/approvals?limit=1'
  return /^\/(api|v1)\//.test(pathname) && !isFrame ? pathname : null
}

/** Delays and rejects requests for page data. */
async function intercept({ url }: Pick<FastifyRequest, 'url'>): Promise<void> {
  const path = dataPath(url)
  if (path === null) return
  await blocked
  if (isRefused(path)) throw new ServiceError(429, 'rate_limited', REFUSAL)
}

async function fill(tenant: TestTenant): Promise<Ids> {
  const [now, { handle }] = [new Date(), tenant]
  const { body } = await tenant.call('POST', '/v1/companies', { name: 'Engines', domain: 'engines.example' })
  const person = { firstname: 'Ada', lastname: 'Lovelace' }
  const contact = await tenant.contact('ada@engines.example', person, { visitor_id: 'v' })
  await tenant.call('POST', '/v1/sources', { name: 'Shop backend', type: 'server' })
  const member = { email: 'connected@example.com', name: 'Charles Babbage', role: 'member' } as const
  await insertGrant(service, tenant.id, await createPerson(service.stores, tenant.id, member), 'Assistant')
  const settings = { event: 'page_view', url: 'https://127.0.0.1:65530/hook' }
  const { subscriptionId: webhook } = await createSubscription(handle, service.secrets, settings, now)
  const filter = { match: 'all', conditions: [{ property: 'city', operator: 'equals', value: 'Nowhere' }] }
  const { segmentId: segment } = await handle.transaction((tx) =>
    createSegment(tx, { name: 'People of Engines', description: null, filter }, now),
  )
  const sender = { firstName: 'Grace', lastName: 'Hopper', role: 'Sales' }
  const identity = (await tenant.call('POST', '/v1/identities', sender)).body.identity.identity_id
  const mail = { contactId: contact, identityId: identity, ...MAIL }
  const { agentId: agent, ref } = await propose(handle, service.jobs, mail)
  const url = `https://${tenant.site}/pricing`
  const { delivery_id: delivery, event_id: event } = await until(async () => {
    // Not delivered before the collector knows the subscription.
    await tenant.track({ visitor_id: 'v', events: [{ event: 'page_view', url, title: 'Pricing' }] })
    return handle.db.selectFrom('webhook_deliveries').select(['delivery_id', 'event_id']).executeTakeFirstOrThrow()
  })
  await until(async () => {
    const { body: proposed } = await tenant.call('GET', '/v1/events?event_type=agent_action_proposed')
    expect(proposed.events).toHaveLength(1)
  })
  await tenant.contact('ada+list@engines.example', person)
  await until(async () => {
    const { body: suggested } = await tenant.call('GET', '/v1/duplicates')
    expect(suggested.duplicates).toHaveLength(1)
  })
  const { company_id: company } = body.company
  const visits = { name: 'Visits', kind: 'trend', question: { series: [{ event: 'page_view' }] } }
  const { report_id } = (await tenant.call('POST', '/v1/reports', visits)).body.report
  const many = { name: 'Many visits', report_id, at: { series: 'A' }, condition: { operator: 'above', value: 1_000 } }
  const alert = (await tenant.call('POST', '/v1/alerts', many)).body.alert.alert_id
  const score = { name: 'lead_score', entity: 'contacts', score: [{ points: 5, filter }] }
  const created = await tenant.call('POST', '/v1/computed-properties', score)
  const computed = created.body.computed_property.computed_property_id
  const connection = await insertConnection(tenant)
  const question = { series: [{ metric: 'unique_people' }] }
  const reported = await tenant.call('POST', '/v1/reports', { name: 'People', kind: 'trend', question })
  const tiles = [{ report_id: reported.body.report.report_id, x: 0, y: 0, width: 6, height: 5 }]
  const board = await tenant.call('POST', '/v1/dashboards', { name: 'Board of all', tiles })
  const { dashboard_id: dashboard } = board.body.dashboard
  return {
    agent,
    alert,
    company,
    computed,
    connection,
    contact,
    dashboard,
    delivery,
    event,
    identity,
    run: ref.runId,
    segment,
    webhook,
  }
}

/** Presses each "Try again". If one is gone before the press, its page has asked again by itself. */
async function tryAgain(main: Locator): Promise<void> {
  for (const button of await main.getByRole('button', { name: 'Try again' }).elementHandles()) {
    await button.click().catch((error: unknown) => {
      if (!/not attached|detached/.test(String(error))) throw error
    })
  }
}

describe.skipIf(!HAS_BROWSER)('every page', () => {
  beforeAll(async () => {
    const beforeListen = (app: App) => void app.addHook('onRequest', intercept)
    service = await startTestService({ CDS_WEBHOOK_ALLOW_PRIVATE: '1' }, { beforeListen })
    browser = await openBrowser(service)
    full = await createTestTenant(service)
    ids = await fill(full)
    page = await browser.signedIn(full)
    page.on('request', (request) => {
      const path = dataPath(request.url())
      if (path !== null) asked.add(path)
    })
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
  })

  const main = () => page.locator('#main')
  const loading = () => main().locator(LOADING)
  const isThere = async (text: string) => {
    await main().getByText(text).first().waitFor()
    await loading().first().waitFor({ state: 'detached' })
    await main().getByText(REFUSAL).first().waitFor({ state: 'detached' })
  }

  /** Shows a page anew, while the service does not answer. @returns what lets it. */
  const openHeld = async (address: string, isLoad: boolean) => {
    // Another document of the same site, so that the previous page sends no more requests and the browser stays warm.
    await (isLoad ? page.goto('/favicon.svg') : leavePage(page))
    // A link that appears under the pointer would fetch another page's data.
    await page.mouse.move(DESK.width - 1, DESK.height / 2)
    asked.clear()
    isRefused = () => false
    const gate = Promise.withResolvers<void>()
    blocked = gate.promise
    await (isLoad ? page.goto(address) : show(page, address))
    await main().getByRole('heading', { name: 'Page not found' }).waitFor({ state: 'detached' })
    await main().getByRole('heading').first().waitFor()
    if (asked.size > 0) await loading().first().waitFor()
    return gate.resolve
  }

  for (const { path, shows, beside = /^$/, pickers = {} } of PLACES) {
    test(`${path} shows a loading state, then its data, and failed requests can be retried`, async () => {
      const address = path.replace(/:(\w+)/g, (_, name: keyof Ids) => ids[name])
      const release = await openHeld(address, LOADED.has(path))
      // Tabs ask for reduced motion.
      await expect.poll(() => running(page)).toBe(0)
      expect(await problemsOfNewParts(page, LOADING)).toEqual([])
      release()
      await isThere(shows)
      expect(await checkWholePage(page, `page${path.replaceAll('/', '-')}`)).toEqual([])

      const paths = [...asked]
      isRefused = (pathname) => beside.test(pathname)
      if (paths.some(isRefused)) {
        await openWithin(page, address)
        await isThere(shows)
      }
      const [pathOfPage] = address.split('?')
      for (const needed of paths.filter((pathname) => !beside.test(pathname))) {
        // The tabs of a page share what they need.
        if (proven.has(`${pathOfPage} ${needed}`)) continue
        proven.add(`${pathOfPage} ${needed}`)
        isRefused = (pathname) => pathname === needed
        await openWithin(page, address)
        const openPicker = pickers[needed]
        if (openPicker) {
          await openPicker(page)
          const failed = page.getByRole('option', { name: REFUSAL })
          await failed.waitFor().catch(() => expect.fail(`${needed} fails in silence`))
          // Lists of choices are drawn outside of the page's regions.
          const problems = await accessibilityProblems(page)
          expect(problems.filter((problem) => !problem.startsWith('region '))).toEqual([])
          isRefused = () => false
          await failed.click()
          await failed.waitFor({ state: 'detached' })
          continue
        }
        const told = main().getByText(REFUSAL).first().waitFor()
        await told.catch(() => expect.fail(`${needed} fails in silence`))
        expect(await problemsOfNewParts(page, '#main [role=alert]')).toEqual([])
        isRefused = () => false
        await tryAgain(main())
        await isThere(shows)
      }
    })
  }

  test('menus and dialogs show failed requests too, and can retry them', async () => {
    const fails = async (path: string, open: () => Promise<void>) => {
      isRefused = (pathname) => pathname === path
      await open()
      await page.getByText(REFUSAL).first().waitFor()
      isRefused = () => false
    }
    const tryAgain = () => page.getByRole('button', { name: 'Try again' }).click()
    const found = (what: string) => page.getByRole('list', { name: `${what} found` }).waitFor()

    const views = () => page.getByRole('button', { name: 'Views' }).click()
    await fails('/v1/views', async () => {
      await openWithin(page, '/contacts')
      await views()
    })
    await page.keyboard.press('Escape')
    await page.getByText(REFUSAL).waitFor({ state: 'detached' })
    await views()
    await page.getByText('No saved views yet').waitFor()

    await openWithin(page, `/contacts/${ids.contact}`)
    await page.getByRole('button', { name: 'Choose a company' }).click()
    await fails('/v1/companies', () => page.getByLabel('Find a company').fill('Engin'))
    await tryAgain()
    await found('Companies')

    await openWithin(page, `/companies/${ids.company}`)
    await page.getByRole('button', { name: 'Add a contact' }).click()
    await fails('/v1/contacts', () => page.getByLabel('Find contacts').fill('Lovel'))
    await tryAgain()
    await found('Contacts')

    await fails('/v1/segments', async () => {
      await openWithin(page, '/agents/new')
      await page.getByRole('button', { name: 'Next' }).click()
      await page.getByLabel('Contacts in a segment').click()
    })
    await tryAgain()
    await page.getByRole('combobox', { name: 'Segment' }).selectOption(ids.segment)

    await page.getByRole('button', { name: 'Next' }).click()
    await fails('/v1/identities', () => page.getByRole('button', { name: 'Next' }).click())
    await tryAgain()
    await found('Senders')
  })

  test('empty pages explain their purpose', async () => {
    page = await browser.signedIn(await createTestTenant(service))
    for (const { path, empty } of PLACES) {
      if (empty === undefined) continue
      await openWithin(page, path)
      await isThere(empty)
      expect(await accessibilityProblems(page)).toEqual([])
    }
  })
})

/** Outlines of what axe has looked at. */
const outlines = new Set<string>()

/**
 * What axe finds while a page is loading, or shows a failure, unless it has looked at parts of the same structure before: only
 * their texts differ, and the rest of the page is looked at with its data.
 */
async function problemsOfNewParts(page: Page, parts: string): Promise<string[]> {
  const found = await page.evaluate(outlinesOf, parts)
  const isKnown = found.length > 0 && found.every((outline) => outlines.has(outline))
  for (const outline of found) outlines.add(outline)
  return isKnown ? [] : accessibilityProblems(page)
}

/** Runs in the page: the elements of each part, and those around it, without what the library generates. */
function outlinesOf(parts: string): string[] {
  const describe = ({ tagName, className, role }: Element) =>
    `${tagName} ${role} ${String(className).replace(/__m__\S*/g, '')}`
  return [...document.querySelectorAll(parts)].map((part) => {
    const elements = [...part.querySelectorAll('*')]
    for (let around: Element | null = part; around && around.id !== 'main'; around = around.parentElement) {
      elements.push(around)
    }
    return elements.map(describe).join('; ')
  })
}

/** The number of running animations. */
function running(page: Page): Promise<number> {
  return page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').length)
}
