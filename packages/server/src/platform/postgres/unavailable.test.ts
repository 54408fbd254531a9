import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../test/ports.ts'
import { notFound, storeUnavailable } from '../errors.ts'
import { connectPostgres } from './connect.ts'
import { asUnavailable } from './unavailable.ts'

/** The error that something real fails with. */
const errorOf = (failing: Promise<unknown>): Promise<unknown> =>
  failing.then(
    () => expect.unreachable('it must fail'),
    (error: unknown) => error,
  )

describe('PostgreSQL is reported as unavailable', () => {
  const queryAt = (host: string, port: number) => {
    const { db, close } = connectPostgres<object>({ host, port, user: 'nobody', database: 'nothing' }, 1)
    onTestFinished(close)
    return errorOf(sql`SELECT 1`.execute(db))
  }

  test('when nothing listens at its address, or at both of a name', async () => {
    const port = await freePort()
    for (const host of ['127.0.0.1', 'localhost']) {
      expect(asUnavailable(await queryAt(host, port))?.code).toBe('store_unavailable')
    }
  })

  test('when its socket does not exist', async () => {
    expect(asUnavailable(await queryAt('/nowhere', 5432))?.code).toBe('store_unavailable')
  })

  test('when it closes the connection', async () => {
    const server = createServer((socket) => socket.resetAndDestroy()).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    expect(asUnavailable(await queryAt('127.0.0.1', port))?.code).toBe('store_unavailable')
  })

  test('not when a file does not exist', async () => {
    const error = await errorOf(readFile('/nowhere'))
    expect(error).toMatchObject({ code: 'ENOENT' })
    expect(asUnavailable(error)).toBeNull()
  })

  test('not when another host refuses a connection', async () => {
    const port = await freePort()
    const other = new Promise((resolve, reject) =>
      createConnection(port, '127.0.0.1', () => resolve(null)).on('error', reject),
    )
    expect(asUnavailable(await errorOf(other))).toBeNull()
  })

  test('not when a request is refused, unlike when ClickHouse does not respond', () => {
    const unavailable = storeUnavailable('ClickHouse', new Error('silence'))
    expect([asUnavailable(notFound('segment')), asUnavailable(unavailable)]).toEqual([null, unavailable])
  })
})
