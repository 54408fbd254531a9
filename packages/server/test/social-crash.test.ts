import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newId } from '../src/platform/ids.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { MINUTE_MS } from '../src/platform/time.ts'
import { createDatabase } from './databases.ts'
import { everythingStored } from './everything.ts'
import { KillableService } from './killable.ts'
import { openDirectory } from './process.ts'
import { makeCertificate } from './receiver.ts'
import { call, insertTenant } from './service.ts'
import { startGateway } from './social-gateway.ts'

const PASSWORD = 'survives-no-crash-Pa55'

/** More than the 45 seconds after which a step without a response counts as lost with its process. */
const AHEAD_MS = MINUTE_MS

test('logins continue after a kill, in whatever state, and no secret of them remains', async () => {
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
    CDS_RATE_LIMITS: 'on',
    CDS_LOG_LEVEL: 'trace',
    NODE_EXTRA_CA_CERTS: authority,
  }
  const postgres = connectPostgres<DB>({ connectionString: databaseUrl }, 4)
  const { pool } = postgres
  const service = new KillableService(environment)
  try {
    const { id: tenantId, key } = await insertTenant(postgres.db)
    let url = await service.start()
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
      // The first never gets a response: its process dies while it waits.
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
    await service.kill()
    expect(await cutOff).toBeNull()

    gateway.overrides.clear()
    const done = JSON.stringify({ state: 'completed', profile_id: 'after-the-kill' })
    gateway.overrides.set('/v1/logins/status', (response, { body }) =>
      response.end(body.login_id === codedSession ? '{"state":"awaiting_2fa"}' : done),
    )
    gateway.overrides.set('/v1/logins/code', (response) => response.end(done))
    url = await service.startLast(AHEAD_MS)
    const confirmed = await api('POST', `${coded}/social/code/${codedSession}`, { code: '998877aa' })
    expect(confirmed.body.login_result.status).toBe('completed')
    for (const id of [asking, looking]) {
      await expect.poll(() => statusOf(id), { timeout: 120_000, interval: 500 }).toBe('completed')
    }
    const begun = gateway.askedOf('/v1/logins/begin').map(({ key }) => key)
    expect(begun.filter((each) => each === codedSession)).toHaveLength(1)
    const texts = [await everythingStored({ postgres: { pool } }), service.output]
    for (const text of texts) expect([text.includes(PASSWORD), text.includes('998877aa')]).toEqual([false, false])
  } finally {
    await service.close()
    await postgres.close()
    await gateway.close()
    await rm(directory, { recursive: true, force: true })
  }
})
