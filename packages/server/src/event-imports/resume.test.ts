import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { type EventFiles, jsonLines, openEventFiles } from '../../test/event-files.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant
let files: EventFiles
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  files = await openEventFiles(service, tenant)
})
afterAll(() => files?.remove())

const AT = '2025-03-01T10:00:00.000Z'
const count = async (event: string) =>
  (await tenant.call('GET', `/v1/events?count_only=true&event_type=${event}`)).body.count as number
/** Three chunks; every thousandth line is invalid. */
const longFile = (event: string) =>
  files.write(
    `${event}.jsonl`,
    jsonLines(
      ...Array.from({ length: 9_000 }, (_, n) =>
        n % 1_000 === 999
          ? { event, email: 'nobody' }
          : { event, timestamp: AT, user_id: `${event}-${n % 7}`, data: { n } },
      ),
    ),
  )
/** A group commit that fails in its n-th flush, before or after it is committed. */
const failing = (at: number, when: 'before' | 'after') => {
  const { groupCommit } = commandSession(service)
  let flushes = 0
  return {
    groupCommit: (...given: Parameters<typeof groupCommit>) => {
      const inner = groupCommit(...given)
      return {
        record: async (groups: Parameters<typeof inner.record>[0]) => {
          const isLast = ++flushes === at
          if (isLast && when === 'before') throw new Error('killed')
          await inner.record(groups)
          if (isLast) throw new Error('killed')
        },
      }
    },
  }
}
/** Days later, the ids of events are forgotten. */
const forgetIds = async () => {
  for (const turn of [0, 1, 2]) {
    await service.postgres.pool.query(`DELETE FROM event_ids_${turn} WHERE tenant_id = $1`, [tenant.id])
  }
}

test.each(['before', 'after'] as const)(
  'an import that ends %s a chunk is committed continues there, even days later: no event is lost or recorded twice',
  async (when) => {
    const event = `cut_${when}`
    const file = await longFile(event)
    await expect(files.import(file, {}, failing(2, when))).rejects.toThrow('killed')
    await forgetIds()
    const summary = await files.import(file)
    expect(summary).toMatchObject({ read: 9_000, recorded: 8_991, repeated: 0, failed: 9 })
    expect(files.messages).toContain('continuing after line 4,000')
    expect(await count(event)).toBe(8_991)
    const errors = (await readFile(`${file}.errors.jsonl`, 'utf8')).trimEnd().split('\n')
    expect(errors.map((line) => JSON.parse(line).line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => n * 1_000))
    const { body } = await tenant.call(
      'GET',
      '/v1/events?count_only=true&event_type=contact_created&include_system=true',
    )
    expect(body.count).toBeGreaterThanOrEqual(7)
  },
)

test.each(['before', 'after'] as const)(
  'each warning counts once, even if an import ends %s a chunk is committed',
  async (when) => {
    const ids = { anonymousId: `warned-${when}` }
    const lines = Array.from({ length: 4_500 }, (_, n) =>
      n % 500 === 499
        ? { type: 'identify', ...ids, traits: { plan: 'pro' } }
        : { type: 'track', event: `warned_${when}`, ...ids, timestamp: AT, messageId: `${when}-${n}` },
    )
    const file = await files.write(`warned-${when}.jsonl`, jsonLines(...lines))
    await expect(files.import(file, {}, failing(2, when))).rejects.toThrow('killed')
    expect(await files.import(file)).toMatchObject({
      read: 4_500,
      recorded: 4_491,
      people: 9,
      warned: 9,
      warnings: [{ lines: 9, first_lines: [500, 1_000, 1_500, 2_000, 2_500, 3_000, 3_500, 4_000, 4_500] }],
    })
  },
)

test('a file is imported once, and with --again once more', async () => {
  const event = 'same_file'
  const file = await files.write(`${event}.jsonl`, jsonLines({ event, timestamp: AT, email: 'same@example.com' }))
  expect(await files.import(file)).toMatchObject({ recorded: 1, imported_before: false })
  await forgetIds()
  expect(await files.import(file)).toMatchObject({ read: 1, recorded: 1, imported_before: true })
  expect(await count(event)).toBe(1)
  const copy = await files.write('copy.jsonl', await readFile(file))
  expect(await files.import(copy)).toMatchObject({ imported_before: true })
  expect(await files.import(file, { again: true })).toMatchObject({ recorded: 1, imported_before: false })
  expect(await files.import(file, { again: true })).toMatchObject({ recorded: 0, repeated: 1 })
  expect(await count(event)).toBe(2)
})

test('of two concurrent imports of a file, one runs and the other says who runs it', async () => {
  const file = await longFile('at_once')
  const results = await Promise.allSettled([files.import(file), files.import(file, { errorsFile: `${file}.other` })])
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const [refused] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  expect(refused).toMatchObject({ code: 'import_running', message: expect.stringContaining(`process ${process.pid}`) })
  expect(await count('at_once')).toBe(8_991)
})

test('an interrupted import ends after the current chunk, and says how to continue', async () => {
  const file = await longFile('interrupted')
  const interruption = new AbortController()
  const onProgress = () => {}
  const journalRows = async () => {
    interruption.abort()
    return 0
  }
  const settings = { interrupted: interruption.signal, onProgress }
  await expect(files.import(file, settings, { journalRows })).rejects.toMatchObject({
    code: 'interrupted',
    message: expect.stringContaining('Stopped after line 4,000.'),
  })
  expect(await files.import(file)).toMatchObject({ read: 9_000, recorded: 8_991, failed: 9 })
  expect(await count('interrupted')).toBe(8_991)
})

test('people who are not contacts yet are created once, with their first page', async () => {
  const page = (n: number) => ({
    event: 'created_once',
    timestamp: `2025-03-0${n}T10:00:00.000Z`,
    user_id: `once-${n % 2}`,
    email: `once-${n % 2}@example.com`,
    url: `https://once.example/${n}?utm_source=news`,
  })
  const file = await files.write('once.jsonl', jsonLines(...[5, 3, 4, 2, 1].map(page)))
  expect(await files.import(file)).toMatchObject({ recorded: 5 })
  const { contacts } = (await tenant.call('GET', '/v1/contacts?search=once-&sort_by=email&sort_dir=asc')).body
  expect(contacts).toHaveLength(2)
  expect(contacts[0]).toMatchObject({
    first_seen_at: '2025-03-02T10:00:00.000Z',
    properties: { first_landing_page: 'https://once.example/2?utm_source=news', first_utm_source: 'news' },
  })
})
