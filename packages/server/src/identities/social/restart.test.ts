import { rm } from 'node:fs/promises'
import { sql } from 'kysely'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase } from '../../../test/databases.ts'
import { openDirectory } from '../../../test/process.ts'
import { type Certificate, makeCertificate } from '../../../test/receiver.ts'
import {
  createTestTenant,
  refuseUpdates,
  startTestService,
  type TestService,
  TestTenant,
} from '../../../test/service.ts'
import { createIdentity, socialOf } from '../../../test/social.ts'
import { startGateway, type TestGateway } from '../../../test/social-gateway.ts'
import { createApiKey } from '../../access/api-keys.ts'
import { QUEUES } from '../../assembly/workers.ts'
import { createJobSender, openJobs } from '../../platform/jobs/jobs.ts'
import { openTenant } from '../../platform/tenant.ts'
import { startIdentityWorkers } from '../workers.ts'
import { openConnector } from './open.ts'
import { SOCIAL_LOGINS, startLogin } from './sessions.ts'
import { runStep } from './steps.ts'
import { sweepLogins } from './sweep.ts'

let certificate: Certificate
let ahead = 0
const clock = () => new Date(Date.now() + ahead)
const open: { close(): Promise<void> }[] = []

beforeAll(() => {
  certificate = makeCertificate()
})
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

/** A gateway, and a service that can be restarted with its stored data. */
async function newInstallation() {
  const gateway: TestGateway = await startGateway(certificate)
  open.push(gateway)
  const directory = await openDirectory()
  // ClickHouse's threads may still write while its directory is being deleted.
  open.push({ close: () => rm(directory, { recursive: true, force: true, maxRetries: 10 }) })
  const environment = { ...gateway.environment, DATABASE_URL: await createDatabase(), CDS_DATA_DIR: directory }
  const outbound = { ca: certificate.certificate }
  const start = async (): Promise<TestService> => {
    const service = await startTestService(environment, { clock, outbound })
    let isOpen = true
    const close = async () => {
      if (isOpen) await service.close()
      isOpen = false
    }
    open.push({ close })
    return { ...service, close }
  }
  /** Starts the workers, connector and sweep of another process with the same database. */
  const startWorker = async (service: TestService) => {
    const connector = openConnector(service.config, clock, outbound)
    const jobs = await openJobs(service.postgres.address, QUEUES, service.log)
    const logins = await startIdentityWorkers({ ...service, social: connector.social, jobs, clock })
    open.push({
      close: async () => {
        await logins.stop()
        await jobs.stop()
        await connector.close()
      },
    })
  }
  return { gateway, start, startWorker }
}

/** The same tenant in another process. */
async function inProcess(service: TestService, { id, site }: TestTenant): Promise<TestTenant> {
  const { apiKey } = await createApiKey(openTenant(service.stores, id), { name: 'other', scopes: ['all'] }, new Date())
  return new TestTenant(service, id, apiKey, site)
}

const ACTOR = { kind: 'command_line' } as const
const LOGIN = { credentials: { username: 'ada@example.com', password: 'x' }, country: 'US', waitSeconds: 600 }

describe('a restart', () => {
  test('resumes a queued login', async () => {
    const { gateway, start } = await newInstallation()
    const first = await start()
    const tenant = await createTestTenant(first)
    const identityId = await createIdentity(tenant)
    await first.jobs.stop()
    const jobs = createJobSender(first.postgres.address, QUEUES, first.log)
    const { session_id } = await startLogin(tenant.handle, { ...first, jobs, clock }, identityId, LOGIN, ACTOR)
    await jobs.stop()
    expect((await socialOf(tenant, identityId).status(session_id)).body.status).toBe('queued')
    await first.close()
    expect(gateway.asked).toEqual([])
    const flow = socialOf(await inProcess(await start(), tenant), identityId)
    await flow.until(session_id, 'completed')
  })

  test('repeats an interrupted call, and the waiting caller gets its response', async () => {
    const { gateway, start } = await newInstallation()
    const first = await start()
    const tenant = await createTestTenant(first)
    const identityId = await createIdentity(tenant)
    gateway.overrides.set('/v1/logins/begin', () => {})
    const login = socialOf(tenant, identityId).login(LOGIN.credentials)
    await expect.poll(() => gateway.asked.length).toBe(1)
    const closing = first.close()
    const { status, body } = await login
    expect([status, body.login_result.status]).toEqual([200, 'queued'])
    await closing
    gateway.overrides.clear()
    const flow = socialOf(await inProcess(await start(), tenant), identityId)
    await flow.until(body.login_result.session_id, 'completed')
    expect(new Set(gateway.askedOf('/v1/logins/begin').map(({ key }) => key))).toEqual(
      new Set([body.login_result.session_id]),
    )
  })

  test('loses no login that is running or waiting for a code', async () => {
    const { gateway, start } = await newInstallation()
    const first = await start()
    const tenant = await createTestTenant(first)
    const [coded, mailed] = [await createIdentity(tenant), await createIdentity(tenant)]
    const codeSession = await socialOf(tenant, coded).begin('2fa@example.com')
    gateway.overrides.set('/v1/logins/begin', (response) => response.end('{"state":"awaiting_email"}'))
    let mailState = 'awaiting_email'
    gateway.overrides.set('/v1/logins/status', (response, { body }) =>
      response.end(JSON.stringify({ state: body.login_id === codeSession ? 'awaiting_2fa' : mailState })),
    )
    const mailSession = await socialOf(tenant, mailed).begin('ada@example.com')
    expect((await socialOf(tenant, mailed).until(mailSession, 'awaiting_email')).body.status).toBe('awaiting_email')
    mailState = 'running'
    await socialOf(tenant, mailed).until(mailSession, 'running')
    await first.close()
    const other = await inProcess(await start(), tenant)
    gateway.overrides.set('/v1/logins/status', (response, { body }) =>
      response.end(
        body.login_id === codeSession ? '{"state":"awaiting_2fa"}' : '{"state":"completed","profile_id":"mailed"}',
      ),
    )
    const done = await socialOf(other, mailed).until(mailSession, 'completed')
    expect(done.body.profile_id).toBe('mailed')
    const submitted = await socialOf(other, coded).code(codeSession, '424242')
    expect(submitted.body.login_result.status).toBe('completed')
    expect(gateway.askedOf('/v1/logins/begin')).toHaveLength(2)
  })
})

describe('a process that died during a login', () => {
  test('is replaced by another, whose sweep requeues the lost job', async () => {
    const { gateway, start } = await newInstallation()
    const service = await start()
    const tenant = await createTestTenant(service)
    const identityId = await createIdentity(tenant)
    const flow = socialOf(tenant, identityId)
    const session = await flow.begin('2fa@example.com')
    await flow.until(session, 'awaiting_2fa')
    // What it leaves behind: the step is incremented, so its job has no effect.
    await tenant.handle.db
      .updateTable('social_sessions')
      .set(({ eb }) => ({ step: eb('step', '+', 1) }))
      .execute()
    gateway.overrides.set('/v1/logins/status', (response) => response.end('{"state":"completed","profile_id":"p"}'))
    const dependencies = { ...service, clock }
    await sweepLogins(dependencies)
    expect((await flow.status(session)).body.status).toBe('awaiting_2fa')
    ahead += 120_000
    await sweepLogins(dependencies)
    await flow.until(session, 'completed')
  })

  test('is replaced even if the database rejects the change of another login', async () => {
    const { gateway, start } = await newInstallation()
    const service = await start()
    const { database } = service.stores
    const tenant = await createTestTenant(service)
    const started = async () => {
      const flow = socialOf(tenant, await createIdentity(tenant))
      const session = await flow.begin('2fa@example.com')
      await flow.until(session, 'awaiting_2fa')
      return { flow, session }
    }
    const [bad, over, lost] = [await started(), await started(), await started()]
    const sessions = () => tenant.handle.db.updateTable('social_sessions')
    await sessions().set({ deadline_at: clock() }).where('session_id', 'in', [bad.session, over.session]).execute()
    await sessions().set({ step: sql`step + 1`, wake_by: clock() }).where('session_id', '=', lost.session).execute()
    await refuseUpdates(database, 'social_sessions', sql`old.session_id = ${sql.lit(bad.session)}`)
    // A poll for one of the others may be in progress.
    gateway.overrides.set('/v1/logins/status', (response, { body }) =>
      response.end(
        body.login_id === lost.session ? '{"state":"completed","profile_id":"p"}' : '{"state":"awaiting_2fa"}',
      ),
    )
    await sweepLogins({ ...service, clock })
    const { status } = await tenant.handle.db
      .selectFrom('social_sessions')
      .select('status')
      .where('session_id', '=', over.session)
      .executeTakeFirstOrThrow()
    expect(status).toBe('failed')
    await lost.flow.until(lost.session, 'completed')
  })

  test('leaves an unreadable login that fails if the key has changed since', async () => {
    const { start } = await newInstallation()
    const service = await start()
    const tenant = await createTestTenant(service)
    const identityId = await createIdentity(tenant)
    await service.jobs.stop()
    const jobs = createJobSender(service.postgres.address, QUEUES, service.log)
    const secrets = { ...service.secrets, seal: () => 'v1.000000000000.AAAA' }
    const dependencies = { ...service, jobs, secrets, clock }
    const { session_id } = await startLogin(tenant.handle, dependencies, identityId, LOGIN, ACTOR)
    const job = { tenantId: tenant.id, sessionId: session_id, step: 0 }
    await runStep(dependencies, job, AbortSignal.timeout(60_000))
    await jobs.stop()
    const { body } = await socialOf(tenant, identityId).status(session_id)
    expect(body).toMatchObject({ status: 'failed', error: { code: 'credentials_unreadable' } })
  })
})

describe('several processes', () => {
  test('begin each login once', async () => {
    const { gateway, start, startWorker } = await newInstallation()
    const service = await start()
    await startWorker(service)
    const tenant = await createTestTenant(service)
    const sessions = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const flow = socialOf(tenant, await createIdentity(tenant))
        const session = await flow.begin('ada@example.com')
        await flow.until(session, 'completed')
        return session
      }),
    )
    const begun = gateway.askedOf('/v1/logins/begin').map(({ key }) => key)
    expect(begun.sort()).toEqual(sessions.sort())
  })

  test('with the same job call the network once', async () => {
    const { gateway, start } = await newInstallation()
    const service = await start()
    const tenant = await createTestTenant(service)
    const identityId = await createIdentity(tenant)
    await service.jobs.stop()
    const jobs = createJobSender(service.postgres.address, QUEUES, service.log)
    const dependencies = { ...service, jobs, clock }
    const { session_id } = await startLogin(tenant.handle, dependencies, identityId, LOGIN, ACTOR)
    const job = { tenantId: tenant.id, sessionId: session_id, step: 0 }
    const signal = new AbortController().signal
    await Promise.all(Array.from({ length: 6 }, () => runStep(dependencies, job, signal)))
    expect(gateway.asked).toHaveLength(1)
    expect((await socialOf(tenant, identityId).status(session_id)).body.status).toBe('completed')
    await jobs.send(tenant.handle, SOCIAL_LOGINS, { sessionId: session_id, step: 1 })
    await runStep(dependencies, { ...job, step: 1 }, signal)
    expect(gateway.asked).toHaveLength(1)
    await jobs.stop()
  })
})
