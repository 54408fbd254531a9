import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { createDatabase } from './databases.ts'
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts'
import { KillableService } from './killable.ts'
import { CLI, openDirectory, type Started, startProcess } from './process.ts'
import { COUNTED, count, counted, SDKS } from './sdks.ts'
import { insertTenant } from './service.ts'

let directory: string
let postgres: ReturnType<typeof connectPostgres<DB>>
let service: KillableService
let proxy: FaultyProxy
beforeAll(async () => {
  directory = await openDirectory()
  const DATABASE_URL = await createDatabase()
  postgres = connectPostgres<DB>({ connectionString: DATABASE_URL }, 1)
  service = new KillableService({ CDS_DATA_DIR: directory, DATABASE_URL })
  proxy = await startFaultyProxy(await service.start())
})
afterAll(async () => {
  await proxy?.close()
  await service?.close()
  await postgres?.close()
  await rm(directory, { recursive: true, force: true })
})

test('cdsctl listen and event tail show every event once when the service is killed and started again', async () => {
  const { key } = await insertTenant(postgres.db)
  const program = createServer((_request, response) => void response.end()).listen(0, '127.0.0.1')
  await once(program, 'listening')
  const away = await startFaultyProxy(proxy.target)
  const started: Started[] = []
  try {
    const environment = { CDS_URL: away.url, CDS_KEY: key, DATABASE_URL: 'nonsense' }
    const start = async (...args: string[]) => {
      const command = await startProcess(CLI, [...args, '--json'], environment, /End with Ctrl\+C|signing_secret/)
      started.push(command)
      return command
    }
    const { port } = program.address() as AddressInfo
    const [tail, listen] = await Promise.all([
      start('event', 'tail', '--event', 'counted'),
      start('listen', '--forward-to', `http://127.0.0.1:${port}`, '--events', 'counted'),
    ])
    const send = async () => {
      const events = Array.from({ length: 150 }, () => ({ event: 'counted', visitor_id: 'v', event_id: randomUUID() }))
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ events })
      expect((await fetch(`${proxy.target}/v1/events`, { method: 'POST', headers, body })).status).toBe(200)
      return events.map(({ event_id }) => event_id)
    }
    const sent = await send()
    await service.kill()
    await expect.poll(() => [tail.output(), listen.output()].every((text) => text.includes('Trying again'))).toBe(true)
    proxy.target = await service.start()
    away.target = proxy.target
    sent.push(...(await send()))
    const shown = ({ output }: Started) => {
      const lines = output().matchAll(/^\{.*"event_id":"([0-9a-f-]{36})".*$/gm)
      return [...lines].map(([, id]) => id).toSorted()
    }
    for (const command of [tail, listen]) {
      await expect.poll(() => shown(command)).toEqual(sent.toSorted())
      expect(await command.end('SIGINT')).toBe(0)
      expect(command.output()).not.toContain('    at ')
    }
    expect(listen.output().match(/"status":200/g)).toHaveLength(sent.length)
  } finally {
    for (const command of started) await command.end('SIGKILL')
    await away.close()
    program.closeAllConnections()
    program.close()
  }
})

describe.each(SDKS)("%s's SDK", (name, sdk) => {
  test('loses and doubles none of 300 calls when the service is killed and started again', async () => {
    const { key } = await insertTenant(postgres.db)
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const call = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(proxy.target + path, { ...init, headers })
      return response.json()
    }
    const body = JSON.stringify({ name, type: 'server' })
    const { write_key } = (await call('/v1/sources', { method: 'POST', body })) as { write_key: string }
    let restarted: Promise<void> | null = null
    const first = proxy.requests
    proxy.plan = (nth) => {
      // While it processes a request: the response is lost, whether or not the calls were recorded.
      if (nth === first + 4) {
        restarted = service.kill().then(async () => {
          proxy.target = await (sdk === SDKS.at(-1)?.[1] ? service.startLast() : service.start())
        })
      }
      return null
    }
    expect(await count(sdk(write_key, proxy.url))).toEqual([])
    await restarted
    expect(restarted).not.toBeNull()
    expect(await counted((path) => call(path) as never)).toEqual(COUNTED)
  })
})
