import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandLine } from '../../test/command-line.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

/** The commands about what sends events, in a process of their own beside the running service. */
let service: TestService
let tenant: TestTenant
let commandLine: CommandLine
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const { databaseUrl, dataDirectory } = service.config
  commandLine = new CommandLine({ DATABASE_URL: databaseUrl ?? '', CDS_DATA_DIR: dataDirectory })
})
afterAll(() => commandLine?.close())

/** Runs a command for the tenant. */
async function cds(words: string, ...options: string[]) {
  const { exit, stdout, stderr } = await commandLine.run([...words.split(' '), '--tenant', tenant.id, ...options])
  return { exit, stderr, body: JSON.parse(stdout) }
}

const eventsOf = async (query: string) => (await tenant.call('GET', `/v1/events?${query}`)).body.events

test('event send records one event, several and a list, each once', async () => {
  const paid = { event: 'paid', event_id: crypto.randomUUID(), user_id: 'user-1', data: { amount: 49.9 } }
  const opened = { event: 'opened', email: 'ada@example.com', url: 'https://shop.example.com/' }
  const one = await cds('event send', '--events', JSON.stringify(paid))
  expect(one).toMatchObject({ exit: 0, stderr: '', body: { failed: 0, results: [{ index: 0, status: 'accepted' }] } })
  const several = await cds('event send', '--events', JSON.stringify(paid), '--events', JSON.stringify(opened))
  expect(several).toMatchObject({ exit: 0, body: { failed: 0 } })
  expect(several.body.results).toMatchObject([{ event_id: paid.event_id }, { index: 1, status: 'accepted' }])
  const list = await cds('event send', '--events', JSON.stringify([opened, { event: 'seen', visitor_id: 'v1' }]))
  expect(list.body.results).toMatchObject([{ status: 'accepted' }, { status: 'accepted', contact_id: null }])
  expect(await eventsOf('event_type=paid')).toMatchObject([
    { event_id: paid.event_id, data: { amount: 49.9 }, contact: { _id: one.body.results[0].contact_id } },
  ])
  expect(await eventsOf('event_type=opened')).toMatchObject([
    { contact: { email: 'ada@example.com' } },
    { contact: { email: 'ada@example.com' } },
  ])
  expect(await eventsOf('event_type=seen')).toMatchObject([{ visitor_id: 'v1' }])
})

test('event send exits with 3 if an event failed, and records the others', async () => {
  const sent = ['{"event":"kept","user_id":"user-2"}', '{"event":"lost"}']
  const { exit, stderr, body } = await cds('event send', ...sent.flatMap((event) => ['--events', event]))
  expect([exit, stderr]).toEqual([3, 'cdsctl: 1 of 2 failed. The results above say why.\n'])
  expect(body).toMatchObject({
    failed: 1,
    results: [{ status: 'accepted' }, { index: 1, status: 'failed', error: { code: 'validation_error' } }],
  })
  expect(await eventsOf('event_type=kept')).toHaveLength(1)
  expect(await eventsOf('event_type=lost')).toEqual([])
})

test('event send records the neighbors of an event that cannot be stored, and keeps the digits of numbers', async () => {
  const sent = [
    '{"event":"stored","user_id":"user-3","data":{"id":1234567890123456781}}',
    '{"event":"bad","user_id":"\\u0000"}',
  ]
  for (const options of [sent.flatMap((event) => ['--events', event]), ['--events', `[${sent.join(',')}]`]]) {
    const { exit, body } = await cds('event send', ...options)
    expect([exit, body.failed]).toEqual([3, 1])
    expect(body.warnings).toEqual([
      expect.stringContaining('data.id was kept as text: as a number, it would lose digits.'),
    ])
    expect(body.results).toMatchObject([
      { status: 'accepted' },
      { error: { message: expect.stringMatching(/^user_id: contains a NUL/) } },
    ])
  }
  expect(await eventsOf('event_type=stored')).toMatchObject(Array(2).fill({ data: { id: '1234567890123456781' } }))
})

test.each([
  ['no event', [], 'wrong_call'],
  ['a text', ['--events', 'paid'], 'invalid_option'],
  ['an empty list', ['--events', '[]'], 'invalid_option'],
  [
    'more than 500',
    ['--events', JSON.stringify(Array.from({ length: 501 }, () => ({ event: 'x', user_id: 'u' })))],
    'invalid_option',
  ],
])('event send with %s exits with 2', async (_what, options, code) => {
  const { exit, body } = await cds('event send', ...options)
  expect([exit, body.error.code]).toEqual([2, code])
})

test('the write key of a source works until it is replaced or deleted on the command line', async () => {
  const created = await cds('source create', '--name', 'Shop backend', '--type', 'server')
  expect(created).toMatchObject({ exit: 0, body: { source: { name: 'Shop backend', type: 'server' } } })
  const { source_id, key_hint } = created.body.source
  const first: string = created.body.write_key
  expect(first.endsWith(key_hint)).toBe(true)
  let accepted = 0
  /** The status that a call of an SDK gets. */
  const statusWith = async (key: string) => {
    const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`
    const body = JSON.stringify({ userId: 'user-3', event: 'Sent' })
    const { status } = await call(service, 'POST', '/v1/track', { headers: { authorization }, body })
    if (status === 200) accepted++
    return status
  }
  expect(await statusWith(first)).toBe(200)

  const rotated = await cds('source rotate', '--source-id', source_id)
  expect(Date.parse(rotated.body.old_key_expires_at)).toBeGreaterThan(Date.now())
  const second: string = rotated.body.write_key
  expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200])
  const afterLeak = await cds('source rotate', '--source-id', source_id, '--revoke-old-key', 'true')
  const third: string = afterLeak.body.write_key
  // The service is told of the change after the command has ended.
  await expect.poll(() => Promise.all([first, second, third].map(statusWith))).toEqual([401, 401, 200])

  expect(await cds('source update', '--source-id', source_id, '--name', 'Shop')).toMatchObject({
    exit: 0,
    body: { changed: true, source: { name: 'Shop' } },
  })
  const listed = await cds('source list')
  expect(listed.body.sources).toMatchObject([{ source_id, name: 'Shop', key_hint: third.slice(-4) }])
  expect(JSON.stringify(listed.body)).not.toContain(third)
  expect((await cds('source get', '--source-id', source_id)).body.source).toMatchObject({ source_id, name: 'Shop' })
  expect(await cds('source create', '--name', 'Shop', '--type', 'browser')).toMatchObject({
    exit: 1,
    body: { error: { code: 'source_name_taken' } },
  })

  expect(await cds('source delete', '--source-id', source_id)).toMatchObject({ exit: 0, body: { deleted: true } })
  await expect.poll(() => statusWith(third)).toBe(401)
  expect(await cds('source get', '--source-id', source_id)).toMatchObject({
    exit: 1,
    body: { error: { code: 'not_found' } },
  })
  expect(await eventsOf('event_type=Sent&limit=100')).toHaveLength(accepted)
})

test('a pushed record that fails makes source push exit with 3; its source is listed as a connector', async () => {
  const records = ['{"external_id":"1","email":"grace@example.com"}', '{"external_id":"2","email":"nobody"}']
  const { exit, body } = await cds(
    'source push',
    '--source',
    'hubspot',
    ...records.flatMap((record) => ['--records', record]),
  )
  expect([exit, body.failed]).toEqual([3, 1])
  const { sources } = (await cds('source list')).body
  expect(sources).toContainEqual(expect.objectContaining({ name: 'hubspot', type: 'connector', key_hint: null }))
  const [{ source_id }] = sources.filter(({ name }: { name: string }) => name === 'hubspot')
  expect(await cds('source rotate', '--source-id', source_id)).toMatchObject({
    exit: 1,
    body: { error: { code: 'source_is_connector' } },
  })
})
