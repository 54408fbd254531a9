import { expect, test } from 'vitest'
import { sharedService } from '../../../test/service.ts'

const HOSTILE = 'it\'s \\ "x"\n\t\r\0\b\f {x:String} -- /* ; \' OR 1=1 \\N \\n \\0 % ü 😀'

test('values of every type reach the engine unchanged', async () => {
  const { clickhouse } = (await sharedService()).stores
  const columns = `{text: String} AS text, {texts: Array(String)} AS texts, {id: UUID} AS id, {ids: Array(UUID)} AS ids,
    {flag: Bool} AS flag, {number: Int64} AS number, {nothing: Nullable(String)} AS nothing, {blank: String} AS blank`
  const id = '01a203e5-4178-761d-a503-a597346b2316'
  const parameters = {
    text: HOSTILE,
    texts: [HOSTILE, '', '\\', "'"],
    id,
    ids: [id],
    flag: true,
    number: -5,
    nothing: null,
    blank: '',
  }
  expect(await clickhouse.query(`SELECT ${columns}`, parameters)).toEqual([parameters])
})

test('more values than fit into a statement reach the engine too', async () => {
  const { clickhouse } = (await sharedService()).stores
  const texts = Array.from({ length: 20_000 }, (_, index) => `text number ${index}`)
  expect(await clickhouse.query('SELECT length({texts: Array(String)}) AS count', { texts })).toEqual([
    { count: 20_000 },
  ])
})

test('so do large numbers beside them', async () => {
  const { clickhouse } = (await sharedService()).stores
  const texts = Array.from({ length: 20_000 }, (_, index) => `text number ${index}`)
  const large = { texts, large: 1e21, small: -1.5e300 }
  const columns = '{large: Float64} AS large, {small: Float64} AS small'
  const query = `SELECT ${columns}, length({texts: Array(String)}) AS count`
  expect(await clickhouse.query(query, large)).toEqual([{ large: 1e21, small: -1.5e300, count: 20_000 }])
})

test('a placeholder without a value is rejected, even after a statement that set one', async () => {
  const { clickhouse } = (await sharedService()).stores
  expect(await clickhouse.query('SELECT {n: Int64} AS n', { n: 1 })).toEqual([{ n: 1 }])
  await expect(clickhouse.query('SELECT {n: Int64} AS n', {})).rejects.toThrow('no value for its placeholder n')
})

/** A query that runs until its caller leaves. */
async function startEndless() {
  const { clickhouse } = (await sharedService()).stores
  const caller = new AbortController()
  const running = () =>
    clickhouse.query(
      "SELECT 1 FROM system.processes WHERE query LIKE '%numbers(99999999999)%' AND query NOT LIKE '%LIKE%'",
    )
  const sql = 'SELECT max(sipHash64(number)) FROM numbers(99999999999)'
  const cancelled = expect(clickhouse.query(sql, {}, { signal: caller.signal })).rejects.toThrow(/cancel|killed/i)
  await expect.poll(running).toHaveLength(1)
  const leave = async () => {
    caller.abort()
    await cancelled
  }
  return { clickhouse, running, leave }
}

test('a query returns its result while another one runs', async () => {
  const { clickhouse, running, leave } = await startEndless()
  expect(await clickhouse.query('SELECT {n: Int64} AS n', { n: 1 })).toEqual([{ n: 1 }])
  expect(await running()).toHaveLength(1)
  await leave()
})

test('a query is cancelled when its client disconnects', async () => {
  const { running, leave } = await startEndless()
  await leave()
  await expect.poll(running).toHaveLength(0)
})
