import { execFileSync } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { newId } from '../src/platform/ids.ts'
import { everythingStored } from './everything.ts'
import { CLI, MAIN, openDirectory, RUNNING, type Started, startProcess } from './process.ts'
import { makeCertificate } from './receiver.ts'
import { call, createDatabase } from './service.ts'
import { startGateway } from './social-gateway.ts'

const PASSWORD = 'survives-no-crash-Pa55'

/** A kill leaves what was being asked to a lost job, which another process finds after three quarters of a minute. */
test('logins go on after a kill, whatever they were doing, and nothing secret is left of them', async () => {
  const certificate = makeCertificate()
  const gateway = await startGateway(certificate)
  const directory = await openDirectory()
  const authority = join(directory, 'authority.pem')
  await writeFile(authority, certificate.certificate)
  const databaseUrl = await createDatabase()
  const environment = {
    ...gateway.environment,
    CDS_DATA_DIR: directory,
    DATABASE_URL: databaseUrl,
    PORT: '0',
    HOST: '127.0.0.1',
    CDS_LOG_LEVEL: 'trace',
    NODE_EXTRA_CA_CERTS: authority,
  }
  const cds = (...args: string[]) =>
    JSON.parse(
      execFileSync(process.execPath, [CLI, ...args, '--json'], {
        env: { ...process.env, ...environment },
        encoding: 'utf8',
      }),
    )
  const pool = new pg.Pool({ connectionString: databaseUrl })
  const outputs: (() => string)[] = []
  let service: Started | undefined
  const start = async () => {
    service = await startProcess(MAIN, [], environment, RUNNING)
    outputs.push(service.output)
    return RUNNING.exec(service.output())?.[1] ?? ''
  }
  try {
    const tenantId = cds('tenant', 'create', '--name', 'Crash').tenant_id
    const key = cds('key', 'create', '--tenant', tenantId, '--name', 'all', '--scopes', 'all').api_key
    let url = await start()
    const identities = [newId(), newId(), newId()]
    for (const id of identities) {
      await pool.query(`INSERT INTO identities VALUES ($1, $2, 'Ada', 'Byron', 'sales', NULL, now(), now())`, [
        tenantId,
        id,
      ])
    }
    const api = (method: string, path: string, body?: object) =>
      call({ url }, method, `/v1/identities/${path}`, {
        headers: { authorization: `Bearer ${key}` },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
    const sessionOf = async (id?: string) => {
      const { rows } = await pool.query('SELECT session_id FROM social_sessions WHERE identity_id = $1', [id])
      return String(rows[0]?.session_id)
    }
    const statusOf = async (id?: string) => (await api('GET', `${id}/social/status/${await sessionOf(id)}`)).body.status
    const [asking, coded, looking] = identities
    let codedSession = ''
    gateway.overrides.set('/v1/logins/begin', (response, { body }) => {
      // The first is never answered: its process dies while it waits.
      if (body.username === 'looking@example.com') response.end('{"state":"awaiting_email"}')
      else if (body.username === 'coded@example.com') {
        codedSession = body.login_id
        response.end('{"state":"awaiting_2fa"}')
      }
    })
    gateway.overrides.set('/v1/logins/status', (response, { body }) =>
      response.end(JSON.stringify({ state: body.login_id === codedSession ? 'awaiting_2fa' : 'awaiting_email' })),
    )
    const login = (id: string | undefined, name: string) =>
      api('POST', `${id}/social/login`, { username: `${name}@example.com`, password: PASSWORD })
    await login(coded, 'coded')
    expect(await sessionOf(coded)).toBe(codedSession)
    await login(looking, 'looking')
    const cutOff = login(asking, 'asking').catch(() => null)
    await expect.poll(() => gateway.asked.some(({ body }) => body.username === 'asking@example.com')).toBe(true)
    await service?.end('SIGKILL')
    expect(await cutOff).toBeNull()

    gateway.overrides.clear()
    const done = JSON.stringify({ state: 'completed', profile_id: 'after-the-kill' })
    gateway.overrides.set('/v1/logins/status', (response, { body }) =>
      response.end(body.login_id === codedSession ? '{"state":"awaiting_2fa"}' : done),
    )
    gateway.overrides.set('/v1/logins/code', (response) => response.end(done))
    url = await start()
    const answer = await api('POST', `${coded}/social/code/${codedSession}`, { code: '998877aa' })
    expect(answer.body.login_result.status).toBe('completed')
    for (const id of [asking, looking]) {
      await expect.poll(() => statusOf(id), { timeout: 120_000, interval: 500 }).toBe('completed')
    }
    const begun = gateway.askedOf('/v1/logins/begin').map(({ key }) => key)
    expect(begun.filter((each) => each === codedSession)).toHaveLength(1)
    const texts = [await everythingStored({ postgres: { pool } }), ...outputs.map((output) => output())]
    for (const text of texts) expect([text.includes(PASSWORD), text.includes('998877aa')]).toEqual([false, false])
  } finally {
    await service?.end('SIGTERM')
    await pool.end()
    await gateway.close()
    await rm(directory, { recursive: true, force: true })
  }
}, 600_000)
