import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { CommandLine } from '../../test/command-line.ts'
import { eventNow } from '../../test/journal.ts'
import {
  createTestTenant,
  sharedService,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../test/service.ts'
import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import { newId } from '../platform/ids.ts'
import { serializeEvents } from './event-record.ts'
import { startProjector } from './projector.ts'

let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const record = (event: string) => eventNow(tenant.id, event)
const names = async (of = tenant) => {
  const { body } = await of.call('GET', '/v1/events?sort_by=event&sort_dir=asc&limit=100')
  return body.events.map(({ event }: { event: string }) => event)
}

async function write(rows: string, event_count: number, journalId = newId(), into = service): Promise<string> {
  const row = { journal_id: journalId, tenant_ids: [tenant.id], row_count: event_count, rows }
  await into.stores.database.insertInto('journal').values(row).execute()
  return journalId
}

const refused = (journalId: string, by = service) =>
  by.stores.database
    .selectFrom('refused_events')
    .selectAll()
    .where('journal_id', '=', journalId)
    .orderBy('line')
    .execute()

const waiting = (journalId: string, at = service) =>
  at.stores.database.selectFrom('journal').select('journal_id').where('journal_id', '=', journalId).execute()

test('an event that ClickHouse cannot parse is set aside and does not block others', async () => {
  const rows = serializeEvents(['one', 'two', 'three'].map(record)).replace('"two"', '"\\ud83d"')
  const journalId = await write(rows, 3)
  await service.projector.drain()
  await tenant.track({ visitor_id: 'v', events: [{ event: 'zero' }] })
  expect(await names()).toEqual(['one', 'three', 'zero'])
  expect(await refused(journalId)).toMatchObject([{ line: 1, row: expect.stringContaining('ud83d') }])
  // A repetition, as after a crash, changes nothing.
  await write(rows, 3, journalId)
  await service.projector.drain()
  expect(await names()).toEqual(['one', 'three', 'zero'])
  expect(await refused(journalId)).toHaveLength(1)
  await expect.poll(() => waiting(journalId)).toEqual([])
})

describe('a journal row is set aside with its reason when it', () => {
  const header = serializeEvents([]).trimEnd()
  const event = () => serializeEvents([record('kept')]).split('\n')[1]
  test.each([
    ['is empty', () => '', 1, 'contains 0 events instead of 1'],
    ['has only column names', () => `${header}\n`, 3, 'contains 0 events instead of 3'],
    ['is garbage', () => 'garbage', 1, 'contains 0 events instead of 1'],
    ['lacks an event', () => `${header}\n${event()}\n`, 2, 'contains 1 events instead of 2'],
    ['is truncated', () => `${header}\n${event()?.slice(0, -30)}`, 1, 'Cannot parse'],
    ['is HTML', () => '<!doctype html>\n<title>502</title>\n', 1, 'Cannot parse'],
    ['names an unknown column', () => `${header.replace('"title"', '"headline"')}\n${event()}\n`, 1, 'headline'],
    ['names a column twice', () => `${header.replace('"title"', '"text"')}\n${event()}\n`, 1, 'text'],
  ])('%s', async (_, rowsOf, eventCount, reason) => {
    const rows = rowsOf()
    const journalId = await write(rows, eventCount)
    await service.projector.drain()
    const [found, ...more] = await refused(journalId)
    expect(more).toEqual([])
    expect(found).toMatchObject({ error: expect.stringContaining(reason) })
    expect(found?.row.trimEnd()).toBe(rows.trimEnd())
    expect(await waiting(journalId)).toEqual([])
  })

  test('but not for empty lines in it', async () => {
    const journalId = await write(`${header}\n\n${event()?.replace('kept', 'spaced')}\n\n`, 1)
    await service.projector.drain()
    expect(await refused(journalId)).toEqual([])
    expect(await names()).toContain('spaced')
  })
})

/** A ClickHouse that rejects some rows with a code unrelated to them, as a bug of ClickHouse would. */
function refusing(clickhouse: ClickHouse, text: string): ClickHouse {
  return {
    ...clickhouse,
    insert: (table, format, body, token) =>
      body.includes(text)
        ? Promise.reject(new Error('Code: 49. DB::Exception: Logical error. (LOGICAL_ERROR)'))
        : clickhouse.insert(table, format, body, token),
  }
}

test('rows rejected for an unknown reason wait while ClickHouse accepts nothing, and then do not block others', async () => {
  const own = await startTestService()
  const { stores, log } = own
  await own.projector.stop()
  const theirs = await createTestTenant(own)
  const as = (event: string) => serializeEvents([{ ...record(event), tenant_id: theirs.id }])
  const bad = await Promise.all(Array.from({ length: 10 }, (_, index) => write(as(`bad ${index}`), 1, newId(), own)))
  await write(
    serializeEvents(['bad with good', 'good with bad'].map((event) => ({ ...record(event), tenant_id: theirs.id }))),
    2,
    newId(),
    own,
  )
  const projector = startProjector({
    database: stores.database,
    clickhouse: refusing(stores.clickhouse, '"bad '),
    cluster: null,
    log,
  })
  try {
    for (let sweep = 0; sweep < 3; sweep++) await projector.drain()
    expect(await stores.database.selectFrom('refused_events').selectAll().execute()).toEqual([])
    // Behind them, in the order of the journal.
    await write(as('good'), 1, newId(), own)
    for (let sweep = 0; sweep < 4; sweep++) await projector.drain()
    expect(await names(theirs)).toEqual(['good', 'good with bad'])
    expect(await stores.database.selectFrom('journal').selectAll().execute()).toEqual([])
    expect((await refused(bad[0] ?? '', own))[0]?.error).toContain('LOGICAL_ERROR')
    expect(await stores.database.selectFrom('refused_events').selectAll().execute()).toHaveLength(11)
  } finally {
    await projector.stop()
    await own.close()
  }
})

test('cdsctl doctor lists events that were set aside, and event retry stores them once they are corrected', async () => {
  const own = await startTestService()
  const commandLine = new CommandLine({
    DATABASE_URL: own.config.databaseUrl ?? '',
    CDS_DATA_DIR: own.config.dataDirectory,
  })
  try {
    const theirs = await createTestTenant(own)
    const rows = serializeEvents(['fine', 'mended'].map((event) => ({ ...record(event), tenant_id: theirs.id })))
    const journalId = await write(rows.replace('"mended"', '"\\ud83d"'), 2, newId(), own)
    const empty = await write('', 1, newId(), own)
    await own.projector.drain()
    const doctor = await commandLine.json('doctor')
    expect(doctor).toMatchObject({ events_set_aside: 2 })
    expect(doctor.latest_set_aside).toContainEqual(
      expect.objectContaining({
        journal_id: journalId,
        line: 1,
        error: expect.stringContaining('Cannot parse escape sequence'),
      }),
    )
    const metrics = async () => (await fetch(`${own.url}/metrics`)).text()
    await expect.poll(metrics).toContain('cds_events_set_aside 2')

    await sql`UPDATE refused_events SET row = replace(row, '\\ud83d', 'mended') WHERE journal_id = ${journalId}`.execute(
      own.stores.database,
    )
    // A row without events cannot be retried, and stays.
    expect(await commandLine.json('event', 'retry')).toEqual({ retried: 1, still_set_aside: 1 })
    await own.projector.drain()
    expect(await names(theirs)).toEqual(['fine', 'mended'])
    expect(await refused(journalId, own)).toEqual([])
    expect(await refused(empty, own)).toHaveLength(1)
  } finally {
    await commandLine.close()
    await own.close()
  }
})

test.each(['screen', 'language', 'timezone', 'referrer', 'analytics_user_id'])(
  'a %s that is truncated within a character is recorded',
  async (name) => {
    const context = { [name]: `${'x'.repeat(name === 'referrer' ? 16_383 : 999)}\u{1F600}` }
    const response = await tenant.track({ visitor_id: 'v', context, events: [{ event: `cut_${name}` }] })
    expect(response.status).toBe(200)
    expect(await names()).toContain(`cut_${name}`)
  },
)
