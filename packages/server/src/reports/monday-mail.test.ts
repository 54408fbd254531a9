import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startMailbox, type TestMailbox } from '../../test/mailbox.ts'
import { type Browser, signedIn } from '../../test/people.ts'
import { call, createTestTenant, sharedService, type TestTenant } from '../../test/service.ts'
import { startWebhookBench, until, type WebhookBench } from '../../test/webhooks.ts'
import { createMailer } from '../platform/mail.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../platform/time.ts'
import { INSIGHT_SERVICES } from '../segments/events.ts'
import { isMailTime, nextMailAt } from './monday.ts'
import { sendMondayMail } from './monday-mail.ts'

let bench: WebhookBench
let mailbox: TestMailbox

beforeAll(async () => {
  mailbox = await startMailbox()
  bench = await startWebhookBench(mailbox.settings)
})
afterAll(async () => {
  await bench?.close()
  await mailbox?.close()
})

/** Moves the clock on to a Monday at a time of UTC. */
function passToMonday(hours: number): void {
  const now = bench.now().getTime()
  const today = now - (now % DAY_MS)
  const inDays = (8 - bench.now().getUTCDay()) % 7
  const at = today + inDays * DAY_MS + hours * HOUR_MS
  bench.pass((at > now ? at : at + 7 * DAY_MS) - now)
}

type Person = Browser & { email: string; userId: string }

/** A dashboard with a tile of each kind of question, to whose owner it is mailed. */
async function subscribed(of: TestTenant): Promise<{ id: string; path: string; person: Person }> {
  const person = await signedIn(bench.service, of.id, 'owner')
  const reports = [
    ['Sign-ups', 'trend', { series: [{ event: 'signup' }], breakdown: ['country'], last: { value: 90, unit: 'day' } }],
    [
      'Sign-up funnel',
      'funnel',
      { steps: [{ event: 'seen' }, { event: 'signup' }], window: { value: 1, unit: 'day' } },
    ],
    ['Weekly retention', 'retention', { start: { event: 'seen' }, interval: 'week' }],
    ['Ways', 'paths', { kind: 'events' }],
    ['Site', 'web', {}],
    ['Estimate', 'trend', { series: [{ event: 'signup' }], sample: 0.99 }],
  ] as const
  const tiles: object[] = [{ text: '# Not in the mail', x: 0, y: 0, width: 12, height: 1 }]
  for (const [name, kind, question] of reports) {
    const { status, body } = await of.call('POST', '/v1/reports', { name, kind, question })
    expect([name, status, body.error]).toEqual([name, 201, undefined])
    // Twice, which is one line.
    for (const y of [1, 2]) tiles.push({ report_id: body.report.report_id, x: 0, y, width: 6, height: 1 })
  }
  const made = await of.call('POST', '/v1/dashboards', { name: 'Growth\u2028board', tiles })
  const { dashboard_id: id } = made.body.dashboard
  const path = `/v1/dashboards/${id}/subscription`
  const { status, body } = await person.call('PUT', path)
  expect([status, body.error]).toEqual([200, undefined])
  return { id, path, person }
}

const mailsTo = ({ email }: { email: string }) => mailbox.received.filter(({ to }) => to.includes(email))
const subscriptionOf = async (person: Browser, id: string) =>
  (await person.call('GET', `/v1/dashboards/${id}`)).body.subscription
/** Waits until the service has dealt with what was due. Sessions end before the next Monday, so this reads the row. */
const rescheduled = (of: TestTenant, { userId }: Person, state: object = {}) =>
  until(async () => {
    const rows = of.handle.db.selectFrom('dashboard_subscriptions').selectAll().where('user_id', '=', userId)
    const row = await rows.executeTakeFirstOrThrow()
    expect(row.next_mail_at.getTime()).toBeGreaterThan(bench.now().getTime())
    expect(row).toMatchObject(state)
    return row
  }, 30_000)

/** Sends the mails that are due from several processes at once. */
function sendAll(of: TestTenant, dashboard_id: string, user_id: string): Promise<unknown> {
  const { config, stores, secrets, log, clock } = bench.service
  const { publicUrl } = config
  const services = { stores, secrets, log, clock, mailer: createMailer(config), publicUrl, ...INSIGHT_SERVICES }
  const key = { dashboard_id, user_id }
  return Promise.all(Array.from({ length: 8 }, () => sendMondayMail(of.handle, services, key)))
}

test('the mail has the main figures of the week that is over beside the week before, and comes once on Monday', async () => {
  const own = await createTestTenant(bench.service)
  passToMonday(7)
  const { id, person } = await subscribed(own)
  const at = (daysAgo: number, second: number) =>
    new Date(bench.now().getTime() - daysAgo * DAY_MS + second * 1_000).toISOString()
  const come = (visitor_id: string, daysAgo: number, ...events: string[]) =>
    own.track({
      visitor_id,
      session_id: `${visitor_id}-${daysAgo}`,
      events: events.map((event, index) => ({
        event,
        url: `https://${own.site}/`,
        timestamp: at(daysAgo, index),
      })),
    })
  // The week before last, last week, and this Monday, which does not count.
  await come('a', 10, 'page_view', 'seen', 'signup')
  await come('b', 10, 'seen')
  for (const visitor of ['a', 'c', 'd']) await come(visitor, 3, 'page_view', 'seen', 'signup')
  await come('e', 0, 'seen', 'signup')
  const day = (daysAgo: number) => at(daysAgo, 0).slice(0, 10)

  bench.pass(HOUR_MS + MINUTE_MS)
  await sendAll(own, id, person.userId)
  await rescheduled(own, person, { last_error: null, last_mailed_at: expect.any(Date) })
  const { text } = await mailbox.newest(person.email)
  const lines = text.split('\r\n')
  expect(lines).toContain(`Subject: Growth board: the week from ${day(7)}`)
  expect(lines).toEqual(
    expect.arrayContaining([
      `The week from ${day(7)} to ${day(1)}, beside the week before.`,
      'Sign-ups: 3, up 200% from 1.',
      'Sign-up funnel: 100% reached the last step, up from 50%.',
      'Weekly retention: 50% came back, no figure in the week before.',
      'Ways: 3 visits, up 50% from 2.',
      'Site: 3 people, up 200% from 1.',
      expect.stringMatching(/^Estimate: \d.* \(estimated from 99% of the people\)\.$/),
    ]),
  )
  expect(text).toContain(`/insights/dashboards/${id}`)
  expect(text).not.toContain('Not in the mail')

  // Neither again on that day, nor on Tuesday.
  await sendAll(own, id, person.userId)
  bench.pass(DAY_MS)
  await sendAll(own, id, person.userId)
  expect(mailsTo(person)).toHaveLength(1)
  // The service was not running on Monday: that mail is left out, and the next one comes.
  bench.pass(7 * DAY_MS)
  await rescheduled(own, person)
  expect(mailsTo(person)).toHaveLength(1)
  passToMonday(8.1)
  await until(() => expect(mailsTo(person)).toHaveLength(2), 30_000)
})

test('a mail that the server refuses is told, and tried again only while it is Monday', async () => {
  // So that none is due today.
  bench.pass(DAY_MS)
  const own = await createTestTenant(bench.service)
  const { person } = await subscribed(own)
  mailbox.refuses = true
  passToMonday(22)
  await rescheduled(own, person, { last_error: { code: 'mail_failed' }, last_mailed_at: null })
  mailbox.refuses = false
  bench.pass(15 * MINUTE_MS)
  await rescheduled(own, person, { last_error: null, last_mailed_at: expect.any(Date) })
  expect(mailsTo(person)).toHaveLength(1)

  mailbox.refuses = true
  passToMonday(21)
  await rescheduled(own, person, { last_error: { code: 'mail_failed' } })
  mailbox.refuses = false
  bench.pass(4 * HOUR_MS)
  // Tuesday: the next one is due in six days.
  const { next_mail_at } = await rescheduled(own, person, { last_error: { code: 'mail_failed' } })
  expect(next_mail_at.getTime() - bench.now().getTime()).toBeGreaterThan(6 * DAY_MS)
  expect(mailsTo(person)).toHaveLength(1)
})

test('the mail ends its subscription, for whoever has it and without signing in, once its button is pressed', async () => {
  const own = await createTestTenant(bench.service)
  const { id, path, person } = await subscribed(own)
  const other = await signedIn(bench.service, own.id, 'viewer')
  expect((await other.call('PUT', path)).status).toBe(200)
  passToMonday(9)
  await sendAll(own, id, person.userId)
  await rescheduled(own, person, { last_mailed_at: expect.any(Date) })
  const { text } = await mailbox.newest(person.email)
  const unfolded = text.replace(/\r\n[ \t]/g, ' ')
  expect(unfolded).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  const [, url = ''] = /^List-Unsubscribe: <(\S+)>\r$/m.exec(unfolded) ?? []
  expect(url).toContain(`${bench.service.config.publicUrl}/unsubscribe/dashboard/`)
  expect(text).toContain(`To stop it: ${url}`)
  const isSubscribed = async (userId: string) => {
    const rows = own.handle.db.selectFrom('dashboard_subscriptions').where('user_id', '=', userId)
    return (await rows.select('user_id').execute()).length === 1
  }
  const { pathname } = new URL(url)
  // A scanner of links looks at it.
  const page = await call(bench.service, 'GET', pathname)
  expect([page.status, page.body]).toEqual([200, expect.stringContaining('<form method="post">')])
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  for (const secret of [id, person.email, 'Growth']) expect(page.body).not.toContain(secret)
  expect(await isSubscribed(person.userId)).toBe(true)
  // Others can neither change it nor make one: cut off, changed, sealed for another place, or of other words.
  const { secrets } = bench.service
  const token = pathname.split('/').at(-1) ?? ''
  const changed = `${token.slice(0, -9)}${token.at(-9) === 'A' ? 'B' : 'A'}${token.slice(-8)}`
  const elsewhere = secrets.seal([own.id, id, person.userId].join(' '), 'dashboard_subscriptions/elsewhere')
  const sealed = (words: string) => secrets.seal(words, 'dashboard_subscriptions/unsubscribe')
  const wrong = [token.slice(0, -1), changed, elsewhere, sealed(`${own.id} ${id}`), sealed(`${own.id} ${id} all`), 'x']
  for (const each of [...wrong, '%00', 'x'.repeat(5_000)]) {
    for (const method of ['GET', 'POST']) {
      const { status } = await call(bench.service, method, `/unsubscribe/dashboard/${each}`)
      expect([each, status >= 400 && status < 500]).toEqual([each, true])
    }
  }
  expect(await isSubscribed(person.userId)).toBe(true)
  const big = { headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(64 * 1024) }
  expect((await call(bench.service, 'POST', pathname, big)).status).toBe(413)
  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const sent = { headers: { 'content-type': type }, body: 'List-Unsubscribe=One-Click' }
    const done = await call(bench.service, 'POST', pathname, sent)
    expect([done.status, done.body]).toEqual([200, expect.stringContaining('Unsubscribed')])
    expect(await isSubscribed(person.userId)).toBe(false)
  }
  expect(await isSubscribed(other.userId)).toBe(true)
})

test('who unsubscribed, left the workspace, or whose workspace is closed gets none', async () => {
  const [own, closed] = [await createTestTenant(bench.service), await createTestTenant(bench.service)]
  const { path, person } = await subscribed(own)
  const leaving = await signedIn(bench.service, own.id, 'viewer')
  const stopping = await signedIn(bench.service, own.id, 'viewer')
  for (const each of [leaving, stopping]) expect((await each.call('PUT', path)).status).toBe(200)
  expect((await person.call('DELETE', `/v1/members/${leaving.userId}`)).status).toBe(200)
  expect((await stopping.call('DELETE', path)).status).toBe(200)
  expect((await stopping.call('DELETE', path)).body.error.code).toBe('not_found')
  const other = await subscribed(closed)
  const { name } = (await closed.call('GET', '/v1/tenant')).body.tenant
  expect(
    (await other.person.call('DELETE', `/v1/tenant?confirm=${encodeURIComponent(name)}`)).body.error,
  ).toBeUndefined()
  passToMonday(9)
  await rescheduled(own, person, { last_mailed_at: expect.any(Date) })
  expect([person, leaving, stopping, other.person].map((each) => mailsTo(each).length)).toEqual([1, 0, 0, 0])
})

describe('a subscription', () => {
  test('is of the person who is signed in: created once, read and deleted', async () => {
    const own = await createTestTenant(bench.service)
    const { id, path, person } = await subscribed(own)
    const first = await subscriptionOf(person, id)
    expect(first).toMatchObject({ last_mailed_at: null, last_error: null })
    expect((await person.call('PUT', path)).body.subscription).toEqual(first)
    const other = await signedIn(bench.service, own.id, 'viewer')
    expect(await subscriptionOf(other, id)).toBe(null)
    expect((await person.call('DELETE', path)).body).toMatchObject({ deleted: true, dashboard_id: id })
    expect(await subscriptionOf(person, id)).toBe(null)
  })

  test('needs a person, a dashboard that is not a stranger’s, and a service that can send mail', async () => {
    const own = await createTestTenant(bench.service)
    const { id, path } = await subscribed(own)
    for (const method of ['PUT', 'DELETE']) {
      expect((await own.call(method, path)).body.error.code).toBe('person_required')
    }
    expect((await own.call('GET', `/v1/dashboards/${id}`)).body.subscription).toBe(null)
    const stranger = await signedIn(bench.service, (await createTestTenant(bench.service)).id, 'owner')
    for (const method of ['PUT', 'DELETE']) expect((await stranger.call(method, path)).status).toBe(404)

    const silent = await sharedService()
    const tenant = await createTestTenant(silent)
    const made = await tenant.call('POST', '/v1/dashboards', { name: 'Board' })
    const person = await signedIn(silent, tenant.id, 'viewer')
    const refused = await person.call('PUT', `/v1/dashboards/${made.body.dashboard.dashboard_id}/subscription`)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'mail_not_configured'])
  })
})

test('08:00 on Monday is that of the workspace, also in the weeks in which clocks change', () => {
  const next = (zone: string, now: string) => nextMailAt(zone, new Date(now)).toISOString()
  // 08:00 in Berlin is 07:00 in winter and 06:00 in summer.
  expect(next('Europe/Berlin', '2026-03-23T07:00:00Z')).toBe('2026-03-30T06:00:00.000Z')
  expect(next('Europe/Berlin', '2026-03-23T06:59:59Z')).toBe('2026-03-23T07:00:00.000Z')
  expect(next('Europe/Berlin', '2026-10-19T06:00:00Z')).toBe('2026-10-26T07:00:00.000Z')
  // In Auckland it is Monday while it is Sunday in UTC.
  expect(next('Pacific/Auckland', '2026-11-28T00:00:00Z')).toBe('2026-11-29T19:00:00.000Z')
  const isTime = (zone: string, now: string) => isMailTime(zone, new Date(now))
  expect(isTime('Europe/Berlin', '2026-10-26T06:59:59Z')).toBe(false)
  expect(isTime('Europe/Berlin', '2026-10-26T07:00:00Z')).toBe(true)
  expect(isTime('Europe/Berlin', '2026-10-26T22:59:59Z')).toBe(true)
  expect(isTime('Europe/Berlin', '2026-10-26T23:00:00Z')).toBe(false)
})
