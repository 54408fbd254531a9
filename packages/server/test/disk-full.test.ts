import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { v7 } from 'uuid'
import { afterEach, describe, expect, test } from 'vitest'
import { CANNOT_MOUNT, type Mounted, mountSmall } from './mounted.ts'
import { MAIN, RUNNING } from './process.ts'
import { insertTenantOf, startTestService } from './service.ts'

const cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

const environmentOf = ({ directory }: Mounted, more: Record<string, string> = {}) => ({
  CDS_DATA_DIR: join(directory, 'data'),
  PORT: '0',
  HOST: '127.0.0.1',
  CDS_RATE_LIMITS: 'off',
  ...more,
})

async function mount(): Promise<Mounted> {
  const disk = await mountSmall(400)
  cleanup.push(() => disk.unmount())
  return disk
}

/** Like `npm start > FILE 2>&1` with the file on the same disk as the data. */
async function startIntoFile(disk: Mounted) {
  const file = join(disk.directory, 'service.log')
  const output = openSync(file, 'a')
  const env = { ...process.env, ...environmentOf(disk, { CDS_LOG_LEVEL: 'debug' }) }
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', output, output] })
  cleanup.push(async () => {
    if (child.exitCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  const printed = () => readFile(file, 'utf8')
  await expect.poll(printed, { timeout: 60_000 }).toMatch(RUNNING)
  return { child, printed, url: RUNNING.exec(await printed())?.[1] ?? '' }
}

describe.skipIf(CANNOT_MOUNT !== null)(`a full disk${CANNOT_MOUNT ? ` (skipped: ${CANNOT_MOUNT})` : ''}`, () => {
  // With 20 MB left, PostgreSQL itself ends because there is no space for its log.
  test.each([0, 20_000_000])('with %i bytes left: 503 and not ready, until there is space again', async (freeBytes) => {
    const disk = await mount()
    const { child, printed, url } = await startIntoFile(disk)
    const { key, site } = await insertTenantOf(join(disk.directory, 'data'))
    const acknowledged: string[] = []
    const track = async () => {
      const ids = Array.from({ length: 10 }, () => v7())
      // Random, because PostgreSQL compresses texts.
      const text = () => randomBytes(6_000).toString('base64')
      const events = ids.map((event_id) => ({ event_id, event: 'x', data: { text: text() } }))
      const response = await fetch(`${url}/track`, {
        method: 'POST',
        headers: { origin: `https://${site}`, 'content-type': 'application/json' },
        body: JSON.stringify({ visitor_id: 'v', events }),
      })
      if (response.ok) acknowledged.push(...ids)
      return response.status
    }
    const call = (path: string, options: RequestInit = {}) =>
      fetch(url + path, {
        ...options,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      })
    const ready = async () => (await fetch(`${url}/health/ready`)).status
    await expect.poll(ready).toBe(200)
    expect(await track()).toBe(200)

    disk.fill(freeBytes)
    expect(await ready()).toBe(503)
    const statuses = new Set<number>()
    // Until nothing fits any more, and a while longer.
    for (let sent = 0, refused = 0; sent < 2_000 && refused < 100; sent++) {
      const status = await track()
      statuses.add(status)
      if (status === 503) refused++
    }
    for (let contact = 0; contact < 20; contact++) {
      const properties = { description: randomBytes(3_750).toString('base64') }
      const body = JSON.stringify({ email: `c${contact}@example.com`, properties })
      statuses.add((await call('/v1/contacts', { method: 'POST', body })).status)
    }
    expect([...statuses].filter((status) => ![200, 201].includes(status))).toEqual([503])
    expect(await ready()).toBe(503)
    expect(child.exitCode).toBeNull()

    disk.free()
    await expect.poll(ready, { timeout: 60_000 }).toBe(200)
    await expect.poll(track, { timeout: 60_000 }).toBe(200)
    const count = async () => {
      const response = await call('/v1/events?count_only=true')
      return ((await response.json()) as { count?: number }).count
    }
    await expect.poll(count, { timeout: 60_000 }).toBe(acknowledged.length)
    const stopping = once(child, 'exit')
    child.kill('SIGTERM')
    expect((await stopping)[0]).toBe(0)
    expect(await printed()).toContain('stopping: finishing requests')
  })

  test('a start on a full disk fails with a clear message', async () => {
    const disk = await mount()
    disk.fill()
    const output = await startTestService({ DATABASE_URL: '', CDS_DATA_DIR: join(disk.directory, 'data') }).then(
      async (service) => {
        await service.close()
        return 'It started.'
      },
      (error: Error) => error.message,
    )
    expect(output).toMatch(/The disk of the data directory \S+ is full\./)
    expect(output).toContain('CDS_DATA_DIR')
  })
})
