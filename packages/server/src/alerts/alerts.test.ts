import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startMailbox, type TestMailbox } from '../../test/mailbox.ts'
import { type Browser, signedIn } from '../../test/people.ts'
import { createTestTenant, type TestTenant } from '../../test/service.ts'
import { arrived, startWebhookBench, until, type WebhookBench } from '../../test/webhooks.ts'
import { createMailer } from '../platform/mail.ts'
import { DAY_MS, HOUR_MS } from '../platform/time.ts'
import { INSIGHT_SERVICES } from '../segments/events.ts'
import { checkAlert } from './check.ts'

let bench: WebhookBench
let mailbox: TestMailbox
let tenant: TestTenant
let owner: Browser & { email: string; userId: string }

beforeAll(async () => {
  mailbox = await startMailbox()
  bench = await startWebhookBench(mailbox.settings)
  tenant = await createTestTenant(bench.service)
  owner = await signedIn(bench.service, tenant.id, 'owner')
  // No day ends while a test works in it.
  bench.pass(DAY_MS + 12 * HOUR_MS - (Date.now() % DAY_MS))
})
afterAll(async () => {
  await bench?.close()
  await mailbox?.close()
})

const dayKey = (daysAgo: number) => new Date(bench.now().getTime() - daysAgo * DAY_MS).toISOString().slice(0, 10)
const QUESTION = { series: [{ event: 'signup' }], interval: 'day', last: { value: 30, unit: 'day' } }

async function signUps(of: TestTenant, count: number, daysAgo: number): Promise<void> {
  const timestamp = new Date(bench.now().getTime() - daysAgo * DAY_MS).toISOString()
  const events = Array.from({ length: count }, () => ({ event: 'signup', timestamp }))
  const { status, body } = await of.track({ visitor_id: 'v', events })
  expect([status, body.accepted]).toEqual([200, count])
}

async function report(of: TestTenant, question: object = QUESTION, kind = 'trend'): Promise<string> {
  const { status, body } = await of.call('POST', '/v1/reports', { name: 'Sign-ups by day', kind, question })
  expect([status, body.error]).toEqual([201, undefined])
  return body.report.report_id
}

const FEW = { name: 'Few sign-ups', at: { series: 'A' }, condition: { operator: 'below', value: 10 } }

async function alert(of: TestTenant, wanted: object): Promise<string> {
  const { status, body } = await of.call('POST', '/v1/alerts', { ...FEW, ...wanted })
  expect([status, body.error]).toEqual([201, undefined])
  return body.alert.alert_id
}

const read = async (of: TestTenant, id: string) => (await of.call('GET', `/v1/alerts/${id}`)).body.alert
/** Waits until a check has found this. */
const found = (of: TestTenant, id: string, state: object) =>
  until(async () => {
    const shown = await read(of, id)
    expect(shown).toMatchObject(state)
    return shown
  }, 30_000)
const triggered = async (of: TestTenant) =>
  (await of.call('GET', '/v1/events?event_type=alert_triggered')).body.events.map(({ data }: { data: object }) => data)

test('an alert fires once when its condition becomes true, and again after it was false: by event, webhook, Slack and mail', async () => {
  const own = await createTestTenant(bench.service)
  const person = await signedIn(bench.service, own.id, 'owner')
  await signUps(own, 5, 1)
  const report_id = await report(own)
  const [json, slack] = [`/${crypto.randomUUID()}`, `/${crypto.randomUUID()}`]
  await bench.subscribe(own, { event: 'alert_triggered', url: bench.receiver.url(json) })
  await bench.subscribe(own, { event: 'alert_triggered', url: bench.receiver.url(slack), format: 'slack' })
  const id = await alert(own, { report_id, mail_to: [person.userId.toUpperCase(), person.userId] })

  const first = await found(own, id, { state: 'fired', last_value: 5, last_interval: dayKey(1), last_error: null })
  expect(first).toMatchObject({ mail_to: [person.userId], check_every: 'day', enabled: true })
  const [event] = await triggered(own)
  expect(event).toEqual({
    ...{ alert_id: id, name: 'Few sign-ups', report_id, report_name: 'Sign-ups by day', interval: dayKey(1) },
    ...{ value: 5, compared: null, operator: 'below', limit: 10, percent: false, sample: null },
    message: `Sign-ups by day: 5 in ${dayKey(1)}, below 10.`,
  })
  const [sent] = await arrived(bench.receiver, json, 1)
  expect(JSON.parse(String(sent?.body))).toMatchObject({
    event: 'alert_triggered',
    data: { data: event, contact: null, internal_contact_id: null },
  })
  const [message] = await arrived(bench.receiver, slack, 1)
  expect(JSON.parse(String(message?.body)).text).toBe(`The alert Few sign-ups fired. ${event.message}`)
  const mail = await mailbox.newest(person.email)
  expect(mail.text).toContain('Subject: Alert: Few sign-ups')
  expect(mail.text).toContain(event.message)
  expect(mail.text).toContain(`/insights/alerts/${id}`)

  // A day without any, then one with many, then again one without any.
  bench.pass(DAY_MS)
  await found(own, id, { state: 'fired', last_value: 0, last_interval: dayKey(1), triggered_at: first.triggered_at })
  await signUps(own, 10, 0)
  bench.pass(DAY_MS)
  await found(own, id, { state: 'quiet', last_value: 10 })
  expect(await triggered(own)).toHaveLength(1)
  bench.pass(DAY_MS)
  await found(own, id, { state: 'fired', last_value: 0 })
  expect(await triggered(own)).toHaveLength(2)
  await arrived(bench.receiver, json, 2)
  await until(() => expect(mailbox.received.filter(({ to }) => to.includes(person.email))).toHaveLength(2))
})

test('the number of a report with a sample is an estimate: the alert, its event and its mail say so', async () => {
  const own = await createTestTenant(bench.service)
  const person = await signedIn(bench.service, own.id, 'owner')
  // So many that nobody can expect all to be left out of the sample.
  const timestamp = new Date(bench.now().getTime() - DAY_MS).toISOString()
  for (let visitor = 0; visitor < 20; visitor++) {
    await own.track({ visitor_id: `v${visitor}`, events: [{ event: 'signup', timestamp }] })
  }
  const report_id = await report(own, { ...QUESTION, sample: 0.9 })
  const id = await alert(own, { report_id, mail_to: [person.userId], condition: { operator: 'below', value: 100 } })
  expect(await found(own, id, { state: 'fired' })).toMatchObject({ sample: 0.9 })
  const [event] = await triggered(own)
  expect(event).toMatchObject({
    sample: 0.9,
    message: expect.stringMatching(/^Sign-ups by day: \d+ in .*, below 100 \(estimated from 90% of the people\)\.$/),
  })
  expect((await mailbox.newest(person.email)).text).toContain(event.message)
  const changed = await alert(own, { report_id, condition: { operator: 'changed_by', value: 0 } })
  await found(own, changed, { state: 'fired', sample: 0.9 })
  expect((await triggered(own)).map(({ message }: { message: string }) => message)).toContainEqual(
    expect.stringMatching(/changed by more than 0 from 0 \(estimated from 90% of the people\)\.$/),
  )
})

test('however many processes check it, an alert fires once', async () => {
  const own = await createTestTenant(bench.service)
  await signUps(own, 5, 1)
  const id = await alert(own, { report_id: await report(own) })
  const { config, stores, log, writing, clock } = bench.service
  const { append } = writing
  const { publicUrl } = config
  const services = { stores, log, clock, append, mailer: createMailer(config), publicUrl, ...INSIGHT_SERVICES }
  await Promise.all(Array.from({ length: 8 }, () => checkAlert(own.handle, services, id)))
  await found(own, id, { state: 'fired' })
  expect(await triggered(own)).toHaveLength(1)
})

test('every interval since the last check is judged once, and the running one whenever it is asked for', async () => {
  const own = await createTestTenant(bench.service)
  const question = { ...QUESTION, interval: 'hour' }
  const report_id = await report(own, question)
  const hourly = { report_id, check_every: 'hour', condition: { operator: 'above', value: 2 } }
  const id = await alert(own, { ...hourly, name: 'Complete' })
  const running = await alert(own, { ...hourly, name: 'Running', at: { series: 'A', running: true } })
  await found(own, id, { state: 'quiet', last_value: 0 })
  await found(own, running, { state: 'quiet', last_value: 0 })
  await signUps(own, 3, 0)
  // Without a check in between, the hours of the sign-ups are complete.
  bench.pass(3 * HOUR_MS)
  await found(own, id, { state: 'quiet', last_value: 0, triggered_at: expect.any(String) })
  await found(own, running, { state: 'quiet', triggered_at: expect.any(String) })
  expect(
    (await triggered(own)).map(({ name, value }: { name: string; value: number }) => [name, value]).sort(),
  ).toEqual([
    ['Complete', 3],
    ['Running', 3],
  ])
  await signUps(own, 4, 0)
  await own.call('PATCH', `/v1/alerts/${running}`, { check_every: 'day' })
  await found(own, running, { state: 'fired', last_value: 4 })
  await own.call('PATCH', `/v1/alerts/${running}`, { check_every: 'hour' })
  await found(own, running, { state: 'fired', check_every: 'hour', last_value: 4 })
  expect(await triggered(own)).toHaveLength(3)
})

test('an alert starts afresh with another limit and when it is turned on; off, it is not checked', async () => {
  const own = await createTestTenant(bench.service)
  await signUps(own, 5, 1)
  const report_id = await report(own)
  const id = await alert(own, { report_id, enabled: false })
  expect(await read(own, id)).toMatchObject({ state: 'off', last_checked_at: null })
  const path = `/v1/alerts/${id}`
  const { body } = await own.call('PATCH', path, { enabled: true })
  expect(body).toMatchObject({ changed: ['enabled'], alert: { state: 'new' } })
  await found(own, id, { state: 'fired' })
  await own.call('PATCH', path, { name: 'Renamed' })
  expect(await read(own, id)).toMatchObject({ state: 'fired', name: 'Renamed' })
  expect((await own.call('PATCH', path, { name: 'Renamed' })).body.changed).toEqual([])
  await own.call('PATCH', path, { condition: { operator: 'below', value: 6 } })
  await found(own, id, { state: 'fired' })
  expect(await triggered(own)).toHaveLength(2)
  const off = await own.call('PATCH', path, { enabled: false })
  expect(off.body.alert).toMatchObject({ state: 'off', last_interval: null, last_value: null })
})

test('what is wrong with the report or the mail is told, and the alert recovers', async () => {
  const own = await createTestTenant(bench.service)
  const person = await signedIn(bench.service, own.id, 'owner')
  await signUps(own, 5, 1)
  const report_id = await report(own)
  mailbox.refuses = true
  const id = await alert(own, { report_id, mail_to: [person.userId] })
  await found(own, id, { state: 'failing', last_value: 5, last_error: { code: 'mail_failed' } })
  mailbox.refuses = false
  expect(await triggered(own)).toHaveLength(1)

  await own.call('PATCH', `/v1/reports/${report_id}`, { question: { ...QUESTION, formula: 'A * 2' } })
  bench.pass(DAY_MS)
  const failing = await found(own, id, { state: 'failing', last_error: { code: 'validation_error' } })
  expect(failing.last_error.message).toContain('at.series')
  await own.call('PATCH', `/v1/reports/${report_id}`, { question: QUESTION })
  bench.pass(HOUR_MS)
  await found(own, id, { state: 'fired', last_error: null, last_value: 0 })
})

test('an alert is created, read, listed by name, changed and deleted, and the audit log says so; its report cannot be deleted', async () => {
  const own = await createTestTenant(bench.service)
  const report_id = await report(own)
  const wanted = { ...FEW, report_id, name: ' Few sign-ups ', enabled: false }
  const made = await own.call('POST', '/v1/alerts', wanted)
  expect(made.body.alert).toMatchObject({ name: 'Few sign-ups', report_name: 'Sign-ups by day', mail_to: [] })
  const { alert_id } = made.body.alert
  const path = `/v1/alerts/${alert_id}`
  expect((await own.call('GET', path)).body.alert).toEqual(made.body.alert)
  await alert(own, { report_id, name: 'Other', enabled: false })
  const names = async (query: string) => {
    const { body } = await own.call('GET', `/v1/alerts?${query}`)
    return [body.alerts.map(({ name }: { name: string }) => name), body.pagination.total_items]
  }
  expect(await names('page=1&limit=1')).toEqual([['Other'], 2])
  expect(await names('page=2&limit=1')).toEqual([['Few sign-ups'], 2])
  expect(await names('search=SIGN')).toEqual([['Few sign-ups'], 1])

  const other = await report(own)
  const changes = {
    ...{
      name: 'Many',
      report_id: other,
      at: { series: 'A', running: true },
      condition: { operator: 'above', value: 3 },
    },
    ...{ check_every: 'hour', mail_to: [], enabled: true },
  }
  const changed = await own.call('PATCH', path, changes)
  expect(changed.body).toMatchObject({
    changed: ['name', 'report_id', 'at', 'condition', 'check_every', 'enabled'],
    alert: changes,
  })
  const used = await own.call('DELETE', `/v1/reports/${other}`)
  expect([used.status, used.body.error.code, used.body.error.message]).toEqual([
    409,
    'report_in_use',
    expect.stringContaining('Many'),
  ])
  expect((await own.call('DELETE', path)).body).toMatchObject({ deleted: true, alert_id })
  expect((await own.call('DELETE', `/v1/reports/${other}`)).status).toBe(200)
  const { body } = await own.call('GET', `/v1/audit-log?subject_kind=alert&subject_id=${alert_id}`)
  expect(body.entries.map(({ action, details }: { action: string; details: object }) => [action, details])).toEqual([
    ['alert.deleted', { name: 'Many' }],
    ['alert.updated', { changed: ['name', 'report_id', 'at', 'condition', 'check_every', 'enabled'] }],
    ['alert.created', { name: 'Few sign-ups' }],
  ])
})

describe('the preview', () => {
  const preview = async (of: TestTenant, body: object) => {
    const { status, body: answer } = await of.call('POST', '/v1/alerts/preview', { at: { series: 'A' }, ...body })
    expect([status, answer.error]).toEqual([200, undefined])
    return answer
  }
  const fired = (points: { interval: string; fires: boolean }[]) =>
    points.filter(({ fires }) => fires).map(({ interval }) => interval)

  test('has the numbers of 90 days of a trend, and where the alert would have fired', async () => {
    const own = await createTestTenant(bench.service)
    for (const [count, daysAgo] of [
      [3, 10],
      [6, 9],
      [6, 8],
      [2, 7],
      [4, 3],
      [9, 2],
    ] as const) {
      await signUps(own, count, daysAgo)
    }
    const report_id = await report(own, { ...QUESTION, breakdown: ['country'], compare: 'previous_period' })
    const { points, fired: times } = await preview(own, { report_id, condition: { operator: 'above', value: 3 } })
    expect(points).toHaveLength(90)
    expect([points[0].interval, points.at(-1).interval]).toEqual([dayKey(90), dayKey(1)])
    expect(points.slice(-10).map(({ value }: { value: number }) => value)).toEqual([3, 6, 6, 2, 0, 0, 0, 4, 9, 0])
    expect([fired(points), times]).toEqual([[dayKey(9), dayKey(3)], 2])
    // The newest four had 3, 6, 6 and 2 a week before.
    const changes = await preview(own, {
      report_id,
      condition: { operator: 'changed_by', value: 40, percent: true },
    })
    expect(fired(changes.points)).toEqual([dayKey(10), dayKey(2)])
  })

  test('has every hour of a trend, its weeks and its months; a formula has one number', async () => {
    const own = await createTestTenant(bench.service)
    await signUps(own, 4, 1)
    const lengths: number[] = []
    for (const interval of ['hour', 'week', 'month']) {
      const report_id = await report(own, { ...QUESTION, interval })
      const condition = { operator: 'changed_by', value: 1 }
      lengths.push((await preview(own, { report_id, condition })).points.length)
    }
    expect(lengths).toEqual([90 * 24, 13, 3])
    const report_id = await report(own, { ...QUESTION, formula: 'A * 2' })
    const doubled = await preview(own, { report_id, at: {}, condition: { operator: 'above', value: 7 } })
    expect([doubled.points.at(-1).value, doubled.fired]).toEqual([8, 1])
  })

  test('has a funnel and a retention as their own ranges ended with each interval', async () => {
    const own = await createTestTenant(bench.service)
    const at = (daysAgo: number) => new Date(bench.now().getTime() - daysAgo * DAY_MS).toISOString()
    for (const [visitor_id, days] of [
      ['a', [5, 4]],
      ['b', [5]],
      ['c', [2, 1]],
    ] as const) {
      const events = days.flatMap((daysAgo, index) => ({
        event: index === 0 ? 'seen' : 'bought',
        timestamp: at(daysAgo),
      }))
      await own.track({ visitor_id, events })
    }
    const last = { value: 3, unit: 'day' }
    const funnel = { steps: [{ event: 'seen' }, { event: 'bought' }], window: { value: 7, unit: 'day' }, last }
    const condition = { operator: 'below', value: 0.6 }
    const ofFunnel = await preview(own, {
      ...{ report_id: await report(own, funnel, 'funnel'), at: { step: 2, figure: 'from_first' }, condition },
    })
    const values = ({ points }: { points: { value: number | null }[] }) => points.slice(-6).map(({ value }) => value)
    expect(values(ofFunnel)).toEqual([null, 0, 0.5, 0.5, 0, 1])
    expect(fired(ofFunnel.points)).toEqual([dayKey(5)])
    const counts = await preview(own, {
      ...{
        report_id: await report(own, funnel, 'funnel'),
        at: { step: 2 },
        condition: { operator: 'above', value: 0 },
      },
    })
    expect(values(counts)).toEqual([0, 0, 1, 1, 0, 1])

    const retention = { start: { event: 'seen' }, return: { event: 'bought' }, intervals: 2, last }
    const ofRetention = await preview(own, {
      ...{ report_id: await report(own, retention, 'retention'), at: { interval: 1 }, condition },
    })
    expect(values(ofRetention)).toEqual([null, null, 0.5, 0.5, null, 1])
  })
})

describe('an invalid alert is 400', () => {
  const paths = async (of: TestTenant, body: object, path = '/v1/alerts') => {
    const { status, body: answer } = await of.call('POST', path, { ...FEW, ...body })
    return [status, answer.error?.details?.map(({ path: each }: { path: string }) => each)]
  }

  test('for a number that the question does not have', async () => {
    const report_id = await report(tenant)
    const window = { value: 1, unit: 'day' }
    const steps = [{ event: 'a' }, { event: 'b' }]
    const funnel = await report(tenant, { steps, window }, 'funnel')
    const hours = await report(tenant, { steps, window, last: { value: 3, unit: 'hour' } }, 'funnel')
    const dates = await report(tenant, { steps, window, date_from: '2026-01-01' }, 'funnel')
    const retention = await report(tenant, { start: 'first_seen', intervals: 3 }, 'retention')
    const ways = await report(tenant, { kind: 'pages', depth: 3 }, 'paths')
    const formula = await report(tenant, { ...QUESTION, formula: 'A' })
    for (const [wanted, path] of [
      [{ report_id, at: {} }, 'at.series'],
      [{ report_id, at: { series: 'B' } }, 'at.series'],
      [{ report_id, at: { series: 'A', interval: '2026-10-25' } }, 'at.interval'],
      [{ report_id: formula }, 'at.series'],
      [{ report_id: funnel, at: { step: 3 } }, 'at.step'],
      [{ report_id: funnel, at: { step: 1, figure: 'median_seconds' } }, 'at.figure'],
      [{ report_id: hours, at: { step: 1 } }, 'report_id'],
      [{ report_id: dates, at: { step: 1 } }, 'report_id'],
      [{ report_id: retention, at: { interval: 4 } }, 'at.interval'],
      [{ report_id: ways, at: { step: 1, name: '/' } }, 'report_id'],
    ] as const) {
      expect(await paths(tenant, wanted), JSON.stringify(wanted)).toEqual([400, [path]])
    }
  })

  test('for other values that cannot be meant', async () => {
    const report_id = await report(tenant)
    const stranger = await createTestTenant(bench.service)
    const theirs = await report(stranger)
    const elsewhere = await signedIn(bench.service, stranger.id, 'owner')
    for (const [wanted, path] of [
      [{ report_id, name: ' ' }, 'name'],
      [{ report_id: 'x' }, 'report_id'],
      [{ report_id: theirs }, 'report_id'],
      [{ report_id, condition: { operator: 'below', value: 1, percent: true } }, 'condition.percent'],
      [{ report_id, condition: { operator: 'equals', value: 1 } }, 'condition.operator'],
      [{ report_id, at: { series: 'A', running: true } }, 'condition.operator'],
      [{ report_id, check_every: 'minute' }, 'check_every'],
      [{ report_id, mail_to: [owner.userId, elsewhere.userId] }, 'mail_to[1]'],
      [{ report_id, mail_to: ['owner@example.com'] }, 'mail_to[0]'],
    ] as const) {
      expect(await paths(tenant, wanted), JSON.stringify(wanted)).toEqual([400, [path]])
    }
    const preview = { at: FEW.at, condition: FEW.condition }
    const foreign = await tenant.call('POST', '/v1/alerts/preview', { ...preview, report_id: theirs })
    expect([foreign.status, foreign.body.error.details[0].path]).toEqual([400, 'report_id'])
  })
})

test('a stranger finds no alert, and numbers about contacts need their scope', async () => {
  const people = { match: 'all', conditions: [{ property: 'email', operator: 'is_set' }] }
  const contact = await tenant.contact('ada@example.com', {}, { visitor_id: 'ada' })
  expect(contact).toBeTruthy()
  await tenant.track({
    visitor_id: 'ada',
    events: [{ event: 'signup', timestamp: new Date(bench.now().getTime() - DAY_MS).toISOString() }],
  })
  const report_id = await report(tenant, { ...QUESTION, people })
  const id = await alert(tenant, { report_id })
  await found(tenant, id, { state: 'fired', last_value: 1 })
  const stranger = await createTestTenant(bench.service)
  for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
    expect((await stranger.call(method, `/v1/alerts/${id}`, body)).body.error.code).toBe('not_found')
  }
  const key = await tenant.keyWith('events:read', 'segments:write')
  const wanted = { ...FEW, report_id }
  const { at, condition } = FEW
  for (const [method, path, body] of [
    ['POST', '/v1/alerts', wanted],
    ['POST', '/v1/alerts/preview', { report_id, at, condition }],
    ['PATCH', `/v1/alerts/${id}`, { condition: { operator: 'above', value: 2 } }],
  ] as const) {
    const refused = await tenant.call(method, path, body, key)
    expect([path, refused.status, refused.body.error?.code]).toEqual([path, 403, 'insufficient_scope'])
  }
  const shown = await tenant.call('GET', `/v1/alerts/${id}`, undefined, key)
  expect(shown.body.alert).toMatchObject({ state: 'fired', last_value: null })
})

test('a report about a segment that was deleted cannot be watched', async () => {
  const own = await createTestTenant(bench.service)
  const filter = { match: 'all', conditions: [{ property: 'city', operator: 'equals', value: 'Ulm' }] }
  const { segment_id } = (await own.call('POST', '/v1/segments', { name: 'Ulm', filter })).body.segment
  const people = { match: 'all', conditions: [{ property: 'segment', operator: 'in', value: [segment_id] }] }
  const report_id = await report(own, { ...QUESTION, people })
  const id = await alert(own, { report_id, enabled: false })
  expect((await own.call('DELETE', `/v1/segments/${segment_id}`)).status).toBe(200)
  const { at, condition } = FEW
  for (const [method, path, body] of [
    ['POST', '/v1/alerts', { ...FEW, report_id }],
    ['POST', '/v1/alerts/preview', { report_id, at, condition }],
    ['PATCH', `/v1/alerts/${id}`, { enabled: true }],
  ] as const) {
    const refused = await own.call(method, path, body)
    expect([path, refused.status, refused.body.error?.code]).toEqual([path, 400, 'unknown_segment'])
  }
})

test('a tenant has at most 100 alerts', async () => {
  const own = await createTestTenant(bench.service)
  const report_id = await report(own)
  const rows = Array.from({ length: 100 }, (_, index) => ({
    ...{ alert_id: crypto.randomUUID(), name: String(index), report_id, at: '{}', condition: '{}', mail_to: [] },
    ...{ check_every: 'day', enabled: false, created_at: new Date(), updated_at: new Date() },
  }))
  await own.handle.db.insertInto('alerts').values(rows).execute()
  const { status, body } = await own.call('POST', '/v1/alerts', { ...FEW, report_id })
  expect([status, body.error.code]).toEqual([409, 'too_many_alerts'])
})
