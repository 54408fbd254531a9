import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type QueryId, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blocking, commitEvents } from '../../test/journal.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { ChangeLog } from '../contacts/writing/transaction.ts'
import { createEventEraser } from '../erasure/erase-events.ts'
import { linkOwners } from '../owners/link-owners.ts'
import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import { storeUnavailable } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import { openPool } from '../platform/postgres/connect.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { DB } from '../platform/postgres/generated/tables.ts'
import { appendRecords } from '../webhooks/append.ts'
import { episodeId } from './episodes.ts'
import { NOBODY, serializeRows } from './event-record.ts'
import { type Projector, startProjector } from './projector.ts'

let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await startTestService()
  // The projectors that these tests start instead act as other processes, or as the same one after a crash.
  await service.projector.stop()
})
afterAll(() => service?.close())

/** Commits a row of events to the journal. */
async function commit(names: readonly string[], to = tenant, change?: (rows: string) => string): Promise<void> {
  await commitEvents(service.stores.database, to.id, names, change)
}

/** Commits an owner link to the journal. */
async function commitLink() {
  const link = { tenant_id: tenant.id, owner_id: newId(), contact_id: newId(), version: 1 }
  const row = { journal_id: newId(), tenant_ids: [tenant.id], row_count: 1, rows: serializeRows([link]) }
  await service.stores.database
    .insertInto('journal')
    .values({ ...row, table_name: 'owner_links' })
    .execute()
  return link
}

/** Rows in the format of an older version: without the last column. */
const withoutData = (rows: string) => rows.replace(',"data"]', ']').replaceAll(',"{}"]', ']')

async function stored(of = tenant): Promise<string[]> {
  const where = 'tenant_id = {tenant: UUID}'
  const sql = `SELECT event FROM events WHERE ${where} ORDER BY event`
  return (await service.stores.clickhouse.query<{ event: string }>(sql, { tenant: of.id })).map(({ event }) => event)
}

/** Whether a statement in this file's database waits for a lock. */
async function isWaitingForLock(): Promise<boolean> {
  const { rows } = await sql`SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(service.stores.database)
  return rows.length > 0
}

const waiting = () => service.stores.database.selectFrom('journal').select('journal_id').execute()

/** Runs `work` with separate projectors, as in separate processes. */
async function withProjectors(
  clickhouses: ClickHouse[],
  work: (...projectors: Projector[]) => Promise<void>,
  { cluster = null, database = service.stores.database }: { cluster?: string | null; database?: Database } = {},
) {
  const { log } = service
  const projectors = clickhouses.map((clickhouse) => startProjector({ database, clickhouse, cluster, log }))
  try {
    await work(...projectors)
  } finally {
    for (const projector of projectors) await projector.stop()
  }
}

describe('the barrier', () => {
  test("waits for the rows that any process has committed, and not for other tenants' rows", async () => {
    tenant = await createTestTenant(service)
    const other = await createTestTenant(service)
    const blocked = blocking(service.stores.clickhouse)
    await withProjectors([blocked.clickhouse], async (projector) => {
      await commit(['one', 'two'])
      const passed = projector.barrier(tenant.id)
      await blocked.reached
      // Another tenant's read does not wait for these.
      await projector.barrier(other.id)
      expect(await stored()).toEqual([])
      blocked.release()
      await passed
      expect(await stored()).toEqual(['one', 'two'])
      expect(await waiting()).toEqual([])
    })
  })

  test('waits for a batch that another process is inserting', async () => {
    tenant = await createTestTenant(service)
    const { clickhouse } = service.stores
    const blocked = blocking(clickhouse)
    await commit(['in progress'])
    await withProjectors([blocked.clickhouse], async (first) => {
      const projecting = first.drain()
      await blocked.reached
      // Only now, because this one's sweep could have claimed the row instead.
      await withProjectors([clickhouse], async (second) => {
        let isPassed = false
        const passed = second.barrier(tenant.id).then(() => {
          isPassed = true
        })
        await commit(['later'], await createTestTenant(service))
        expect([await stored(), isPassed]).toEqual([[], false])
        blocked.release()
        await passed
      })
      await projecting
      expect(await stored()).toEqual(['in progress'])
    })
  })

  test('waits for the parts of a batch that another process splits meanwhile', async () => {
    tenant = await createTestTenant(service)
    const { clickhouse } = service.stores
    const blocked = blocking(clickhouse)
    const [reached, refuse] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let isWhole = true
    const dividing: ClickHouse = {
      ...clickhouse,
      insert: async (...given) => {
        if (!isWhole) return blocked.clickhouse.insert(...given)
        isWhole = false
        reached.resolve()
        await refuse.promise
        throw unreadable
      },
    }
    await commit(['one'])
    await commit(['two'])
    await withProjectors([dividing], async (first) => {
      const projecting = first.drain()
      await reached.promise
      // The first must be the one that inserts the parts, so the second finds them only then.
      let findable = Promise.resolve()
      const database = delayingSelects(() => findable)
      const reading = async (second: Projector) => {
        const read = second.barrier(tenant.id).then(() => stored())
        await expect.poll(isWaitingForLock).toBe(true)
        findable = blocked.reached
        refuse.resolve()
        // By now the batch is split, and its first part is being inserted.
        await blocked.reached
        await expect.poll(isWaitingForLock).toBe(true)
        blocked.release()
        expect(await read).toEqual(['one', 'two'])
      }
      await withProjectors([clickhouse], reading, { database })
      await projecting
    })
  })

  test('fails with 503 while a part of a split batch is rejected for a reason unrelated to its rows', async () => {
    tenant = await createTestTenant(service)
    const { clickhouse } = service.stores
    const faults = Object.entries({ '"bad"': unreadable, '"refused"': refusal })
    const refusing: ClickHouse = {
      ...clickhouse,
      insert: (...given) => {
        const [, fault] = faults.find(([text]) => given[2].includes(text)) ?? []
        return fault ? Promise.reject(fault) : clickhouse.insert(...given)
      },
    }
    await commit(['bad'])
    await commit(['refused'])
    await withProjectors([refusing], async (projector) => {
      await expect(projector.barrier(tenant.id)).rejects.toMatchObject({ status: 503, code: 'store_unavailable' })
    })
    await withProjectors([clickhouse], (projector) => projector.barrier(tenant.id))
    expect(await stored()).toEqual(['refused'])
  })

  test('fails with 503 while ClickHouse accepts nothing, and only for tenants with waiting events', async () => {
    tenant = await createTestTenant(service)
    const other = await createTestTenant(service)
    const { clickhouse } = service.stores
    let isAway = true
    const flapping: ClickHouse = {
      ...clickhouse,
      insert: (...given) =>
        isAway ? Promise.reject(storeUnavailable('ClickHouse', new Error('away'))) : clickhouse.insert(...given),
    }
    await withProjectors([flapping], async (projector) => {
      await commit(['kept'])
      for (let attempt = 0; attempt < 2; attempt++) {
        await expect(projector.barrier(tenant.id)).rejects.toMatchObject({ status: 503, code: 'store_unavailable' })
      }
      await projector.barrier(other.id)
      isAway = false
      await expect
        .poll(() =>
          projector.barrier(tenant.id).then(
            () => stored(),
            () => [],
          ),
        )
        .toEqual(['kept'])
    })
  })
})

describe('no event is duplicated or lost when a process ends', () => {
  /** Breaks the connection at one call of `insert`, before or after ClickHouse has executed it. */
  function ending(when: 'before' | 'after', call: number): ClickHouse {
    let calls = 0
    const { clickhouse } = service.stores
    const end = storeUnavailable('ClickHouse', new Error('the process ended'))
    return {
      ...clickhouse,
      insert: async (...given) => {
        const isIt = ++calls >= call
        if (isIt && when === 'before') throw end
        await clickhouse.insert(...given)
        if (isIt) throw end
      },
    }
  }

  test.each([
    ['before', 1],
    ['after', 1],
  ] as const)('%s an insertion', async (when, call) => {
    tenant = await createTestTenant(service)
    await commit(['one', 'two'])
    await commit(['three'])
    await withProjectors([ending(when, call)], (projector) => projector.drain())
    // Rows committed meanwhile go into another batch; otherwise the repetition would not be recognized.
    await commit(['four'])
    await withProjectors([service.stores.clickhouse], (projector) => projector.barrier(tenant.id))
    expect(await stored()).toEqual(['four', 'one', 'three', 'two'])
    expect(await waiting()).toEqual([])
  })

  test('after an insertion, while ClickHouse then rejects everything for a while', async () => {
    tenant = await createTestTenant(service)
    await commit(['one'])
    await commit(['two'])
    await withProjectors([ending('after', 1)], (projector) => projector.drain())
    const { clickhouse } = service.stores
    let accepts = false
    const strict: ClickHouse = {
      ...clickhouse,
      query: (...given) => (accepts ? clickhouse.query(...given) : Promise.reject(refusal)),
      insert: (...given) => (accepts ? clickhouse.insert(...given) : Promise.reject(refusal)),
    }
    await withProjectors([strict], async (projector) => {
      for (let sweep = 0; sweep < 3; sweep++) await projector.drain()
      // A read must not return incomplete events.
      await expect(projector.barrier(tenant.id)).rejects.toMatchObject({ status: 503, code: 'store_unavailable' })
      await projector.barrier((await createTestTenant(service)).id)
      accepts = true
      await projector.drain()
      await projector.barrier(tenant.id)
    })
    expect(await stored()).toEqual(['one', 'two'])
    expect(await waiting()).toEqual([])
  })

  test('frozen while it inserts a batch: PostgreSQL releases the lock, and its later work changes nothing', async () => {
    tenant = await createTestTenant(service)
    const { clickhouse } = service.stores
    const blocked = blocking(clickhouse)
    // A thousandth of the service's delay.
    const { db } = openPool<DB>(service.postgres.address, 3, 40)
    const frozen = startProjector({ database: db, clickhouse: blocked.clickhouse, cluster: null, log: service.log })
    await commit(['in progress'])
    const projecting = frozen.drain()
    await blocked.reached
    await withProjectors([clickhouse], (projector) => projector.barrier(tenant.id))
    blocked.release()
    await projecting
    await frozen.stop()
    await db.destroy()
    expect(await stored()).toEqual(['in progress'])
    expect(await waiting()).toEqual([])
  })

  test('before a batch is split of which ClickHouse has a part: rows with other columns are a separate insertion', async () => {
    tenant = await createTestTenant(service)
    await commit(['older'], tenant, withoutData)
    await commit(['newer', 'bad'], tenant, (rows) => rows.replace('"bad"', '"\\ud83d"'))
    await withProjectors([service.stores.clickhouse], (projector) => projector.barrier(tenant.id))
    expect(await stored()).toEqual(['newer', 'older'])
  })

  test.each([
    ['remembers the tokens of rows that are lost', 'parts'],
    ['has rows whose tokens are lost', 'tokens'],
  ] as const)('and with it ClickHouse, which then %s', async (_, lost) => {
    tenant = await createTestTenant(service)
    const { clickhouse } = service.stores
    const tables = ['events', 'owner_links'] as const
    for (const table of tables) await clickhouse.command(`SYSTEM STOP MERGES ${table}`)
    await commit(['one', 'two'])
    const link = await commitLink()
    await withProjectors([ending('after', 2)], (projector) => projector.drain())
    for (const table of tables) await reopenWithout(lost, table)
    // Repeating the repetition changes nothing either.
    await withProjectors([ending('after', 1)], (projector) => projector.drain())
    await withProjectors([clickhouse], (projector) => projector.barrier(tenant.id))
    expect(await stored()).toEqual(['one', 'two'])
    const links = 'SELECT * EXCEPT (sequence) FROM owner_links WHERE tenant_id = {tenant: UUID}'
    expect(await clickhouse.query(links, { tenant: tenant.id })).toEqual([link])
    expect(await waiting()).toEqual([])
  })

  /** Reopens a table without the tenant's parts or without the tokens, as after a kill at the wrong time. */
  async function reopenWithout(lost: 'parts' | 'tokens', table: string): Promise<void> {
    const { clickhouse } = service.stores
    const of = `database = currentDatabase() AND table = '${table}'`
    const parts = await clickhouse.query<{ path: string }>(
      `SELECT path FROM system.parts WHERE ${of} AND name IN (SELECT _part FROM ${table} WHERE tenant_id = {tenant: UUID})`,
      { tenant: tenant.id },
    )
    expect(parts).toHaveLength(1)
    await clickhouse.command(`DETACH TABLE ${table} SYNC`)
    for (const { path } of parts) {
      const tokens = join(path, '..', 'deduplication_logs')
      expect(await readdir(tokens)).not.toEqual([])
      await rm(lost === 'parts' ? path : tokens, { recursive: true })
    }
    await clickhouse.command(`ATTACH TABLE ${table}`)
  }

  test('when one table of a batch is rejected and the other has its rows: in a cluster, rows are not looked up', async () => {
    tenant = await createTestTenant(service)
    const { clickhouse } = service.stores
    await commitLink()
    await commit(['one'])
    const insertions: string[] = []
    const refusing: ClickHouse = {
      ...clickhouse,
      insert: async (...given) => {
        if (insertions.push(given[0]) > 2 || given[0] === 'events') return clickhouse.insert(...given)
        throw new Error(`${unreadable.message}: while reading the rows`)
      },
    }
    await withProjectors([refusing], (projector) => projector.drain(), { cluster: 'main' })
    expect(insertions.toSorted()).toEqual(['events', 'owner_links', 'owner_links'])
    expect(await stored()).toEqual(['one'])
    expect(await waiting()).toEqual([])
  })

  test('when one table of a batch is rejected and the outcome of the other is unknown, nothing is split', async () => {
    tenant = await createTestTenant(service)
    const { clickhouse, database } = service.stores
    await commitLink()
    await commit(['one'])
    const batches = () => database.selectFrom('journal').select(['journal_id', 'batch_id']).execute()
    const lost: ClickHouse = {
      ...clickhouse,
      insert: async (table) => {
        throw table === 'events' ? storeUnavailable('ClickHouse', new Error('no response')) : unreadable
      },
    }
    await withProjectors([lost], (projector) => projector.drain())
    expect(new Set((await batches()).map(({ batch_id }) => batch_id)).size).toBe(1)
    await withProjectors([clickhouse], (projector) => projector.barrier(tenant.id))
    expect(await stored()).toEqual(['one'])
  })

  test.each([1, 2, 3, 4])('between insertion %i and the next of a batch that was split', async (call) => {
    tenant = await createTestTenant(service)
    await commit(['one', 'two'])
    // ClickHouse rejects the batch as a whole, and then this row's second event.
    await commit(['three', 'bad'], tenant, (rows) => rows.replace('"bad"', '"\\ud83d"'))
    await commit(['four'])
    await withProjectors([ending('after', call)], (projector) => projector.drain())
    await withProjectors([service.stores.clickhouse], (projector) => projector.barrier(tenant.id))
    expect(await stored()).toEqual(['four', 'one', 'three', 'two'])
    expect(await waiting()).toEqual([])
  })
})

test('three processes that project the same journal record every event once', async () => {
  tenant = await createTestTenant(service)
  const { clickhouse } = service.stores
  await withProjectors([clickhouse, clickhouse, clickhouse], async (...projectors) => {
    const names = Array.from({ length: 60 }, (_, index) => `event ${String(index).padStart(2, '0')}`)
    await Promise.all(
      names.map(async (name, index) => {
        await commit([name])
        await projectors[index % 3]?.barrier(tenant.id)
        expect(await stored()).toContain(name)
      }),
    )
    expect(await stored()).toEqual(names)
    expect(await waiting()).toEqual([])
  })
})

test('accumulated rows are inserted in batches of a bounded size, also with differing columns', async () => {
  tenant = await createTestTenant(service)
  const bodies: number[] = []
  const { clickhouse } = service.stores
  const measuring: ClickHouse = {
    ...clickhouse,
    // Batches that are inserted for the first time need no query.
    query: () => Promise.reject(refusal),
    insert: (table, format, body, token) => {
      bodies.push(body.length)
      return clickhouse.insert(table, format, body, token)
    },
  }
  const data = JSON.stringify({ text: 'x'.repeat(30_000) })
  const large = (rows: string) => rows.replaceAll('"{}"', JSON.stringify(data))
  const many = Array.from({ length: 100 }, () => 'large')
  await commit(['older'], tenant, withoutData)
  for (let row = 0; row < 12; row++) await commit(many, tenant, large)
  await withProjectors([measuring], (projector) => projector.drain())
  expect(await stored()).toEqual([...Array.from({ length: 1_200 }, () => 'large'), 'older'])
  expect(bodies.length).toBe(3)
  expect(Math.max(...bodies)).toBeLessThan(20_000_000)
})

test('an erasure waits for events of a visitor while ClickHouse accepts deletions but no insertions', async () => {
  tenant = await createTestTenant(service)
  const { clickhouse } = service.stores
  const tooManyParts = new Error('Code: 252. DB::Exception: Too many parts. (TOO_MANY_PARTS)')
  let accepts = false
  const full: ClickHouse = {
    ...clickhouse,
    insert: (...given) => (accepts ? clickhouse.insert(...given) : Promise.reject(tooManyParts)),
  }
  await withProjectors([full], async (projector) => {
    const [owner, contactId] = [episodeId(tenant.id, 'ada', 0), newId()]
    await tenant.handle.transaction(async (tx) => {
      const log = new ChangeLog()
      await linkOwners(tx, log, [owner], contactId)
      await appendRecords(tx, [], log.ownerLinks)
    })
    await commit(['anonymous'], tenant, (rows) => rows.replace(NOBODY, owner))
    const { erase } = createEventEraser({
      ...service.stores,
      cluster: null,
      projector,
    })
    const subject = { contactId, email: null, visitorIds: ['ada'], keys: [] }
    const found: number[] = []
    const erasing = () => erase(tenant.handle, subject, async (events) => void found.push(events))
    await expect(erasing()).rejects.toMatchObject({ status: 503 })
    accepts = true
    await erasing()
    expect(found).toEqual([1])
  })
  expect(await stored()).toEqual([])
})

/** ClickHouse's error for rows that it cannot parse. */
const unreadable = new Error('Code: 27. DB::Exception: Cannot parse input. (CANNOT_PARSE_INPUT_ASSERTION_FAILED)')

/** An error that the rows did not cause: a wrong password. */
const refusal = new Error('Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)')

/** A database whose queries, other than raw SQL, return once `until` allows it. */
function delayingSelects(until: () => Promise<void>): Database {
  const selects = new WeakSet<QueryId>()
  return service.stores.database.withPlugin({
    transformQuery: ({ node, queryId }) => {
      if (node.kind === 'SelectQueryNode') selects.add(queryId)
      return node
    },
    transformResult: async ({ result, queryId }) => {
      if (selects.has(queryId)) await until()
      return result
    },
  })
}
