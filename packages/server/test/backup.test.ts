import { execFile, execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { MAIN, openDirectory, RUNNING, startProcess } from './process.ts'
import { call, createTestTenant, insertTenantOf, startTestService } from './service.ts'

/** The scripts of docs/deploy/backup.md, on the embedded databases. */
const BACKUP = 'deploy/backup.sh'
const RESTORE = 'deploy/restore.sh'

async function run(CDS_DATA_DIR: string) {
  const environment = { CDS_DATA_DIR, PORT: '0', HOST: '127.0.0.1', CDS_RATE_LIMITS: 'off', CDS_LOG_LEVEL: 'warn' }
  const service = await startProcess(MAIN, [], environment, RUNNING)
  onTestFinished(async () => void (await service.end('SIGTERM')))
  return { ...service, url: RUNNING.exec(service.output())?.[1] ?? '' }
}

const shell = (...args: string[]) => promisify(execFile)('sh', args)

async function get(url: string, path: string, key: string) {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
  return response.json()
}

test('a backup of the data directory is restored beside the original, with contacts, events and secrets', async () => {
  const home = await openDirectory()
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const data = join(home, 'data')
  const first = await run(data)
  const { key, site } = await insertTenantOf(data)
  const tracked = await fetch(`${first.url}/track`, {
    method: 'POST',
    headers: { origin: `https://${site}`, 'content-type': 'application/json' },
    body: JSON.stringify({ visitor_id: 'v', events: [{ event: 'page_view', url: `https://${site}/` }] }),
  })
  expect(tracked.status).toBe(200)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const created = await fetch(`${first.url}/v1/contacts`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email: 'ada@example.com', properties: { firstname: 'Ada' } }),
  })
  expect(created.status).toBe(201)
  // A secret, which only the key of the backup decrypts: a retry of this request returns it.
  const newSecret = async (url: string) => {
    const once = { ...headers, 'idempotency-key': 'backed-up' }
    const response = await fetch(`${url}/v1/tenant/identity-secret`, { method: 'POST', headers: once, body: '{}' })
    return [response.status, await response.json()]
  }
  const secret = await newSecret(first.url)
  expect(secret).toEqual([201, expect.objectContaining({ status: 'success' })])
  const file = join(home, 'backup.tar.gz')
  await expect(shell(BACKUP, data, file)).rejects.toThrow('The service uses')
  const before = await get(first.url, '/v1/events?limit=100', key)
  expect(before.events).not.toEqual([])
  expect(await first.end('SIGTERM')).toBe(0)

  await shell(BACKUP, data, file)
  const restored = join(home, 'restored')
  await shell(RESTORE, file, restored)
  await expect(shell(RESTORE, file, restored)).rejects.toThrow('is not empty')

  // The original still starts beside it.
  for (const { url } of await Promise.all([run(restored), run(data)])) {
    expect((await fetch(`${url}/health/ready`)).status).toBe(200)
    expect((await get(url, '/v1/events?limit=100', key)).events).toEqual(before.events)
    const { contacts } = await get(url, '/v1/contacts', key)
    expect(contacts).toMatchObject([{ properties: { email: 'ada@example.com', firstname: 'Ada' } }])
    expect(await newSecret(url)).toEqual(secret)
    const rotated = await fetch(`${url}/v1/tenant/identity-secret`, { method: 'POST', headers, body: '{}' })
    expect(rotated.status).toBeLessThan(300)
  }
})

test.skipIf(process.getuid?.() !== 0)('so is one whose PostgreSQL data root keeps elsewhere', async () => {
  const home = await openDirectory()
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  await chmod(home, 0o700)
  const data = join(home, 'data')
  await mkdir(data)
  const places = async (...directories: string[]) => {
    const texts = directories.map((directory) => readFile(join(directory, 'postgres-location'), 'utf8'))
    return (await Promise.all(texts)).map((text) => text.trim())
  }
  onTestFinished(async () => {
    const found = await places(data, join(home, 'restored')).catch(() => [])
    for (const cluster of found) execFileSync('rm', ['-rf', dirname(cluster)])
  })
  const start = async (CDS_DATA_DIR: string) => {
    const service = await startTestService({ DATABASE_URL: '', CDS_DATA_DIR })
    onTestFinished(service.close)
    return service
  }
  const first = await start(data)
  const tenant = await createTestTenant(first)
  await tenant.contact('ada@example.com')
  // ClickHouse's data is not in the directory here: the next start would miss its events.
  await first.stores.database.deleteFrom('installation').execute()
  await first.close()

  const file = join(home, 'backup.tar.gz')
  await shell(BACKUP, data, file)
  const restored = join(home, 'restored')
  await shell(RESTORE, file, restored)
  const headers = { authorization: `Bearer ${tenant.key}` }
  for (const service of await Promise.all([start(restored), start(data)])) {
    const { body } = await call(service, 'GET', '/v1/contacts', { headers })
    expect(body.contacts).toMatchObject([{ properties: { email: 'ada@example.com' } }])
  }
  const [one, other] = await places(data, restored)
  expect(one).not.toBe(other)
})
