import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CLI } from '../../test/process.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { openEmailAccount } from '../identities/email-accounts.ts'
import { emailPlace } from '../identities/email-secrets.ts'
import { createSecretBox } from '../platform/crypto/secret-box.ts'
import { newId } from '../platform/ids.ts'
import { rotateSecret } from '../webhooks/rotate-secret.ts'
import { headersPlace, secretPlace } from '../webhooks/sealed-columns.ts'
import { createSubscription } from '../webhooks/subscriptions.ts'

/** More rows than one page of the rotation. */
const ACCOUNTS = 450

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
const text = (...keys: Buffer[]) => keys.map((key) => key.toString('base64')).join(',')
const onlyNew = createSecretBox([newKey])

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService({ CDS_SECRET_KEY: text(oldKey) })
  tenant = await createTestTenant(service)
})
afterAll(() => service?.close())

async function rotate(keys: string) {
  const { config } = service
  const environment = {
    CDS_DATA_DIR: config.dataDirectory,
    DATABASE_URL: config.databaseUrl ?? '',
    CDS_SECRET_KEY: keys,
  }
  const env = { ...process.env, ...environment }
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, 'secret', 'rotate', '--json'], { env })
  const { columns: _, ...counts } = JSON.parse(stdout)
  return counts
}

test('secret rotate re-encrypts everything once with the first key, and keeps what it cannot decrypt', async () => {
  const { handle } = tenant
  const now = new Date()
  const wanted = { event: 'page_view', url: 'https://example.com/hook', headers: [{ name: 'X-A', value: 'header' }] }
  const { subscriptionId, signingSecret } = await createSubscription(handle, service.secrets, wanted, now)
  const rotated = await rotateSecret(handle, service.secrets, subscriptionId, {}, now)
  const names = { first_name: 'A', last_name: 'B', role: 'C', created_at: now, updated_at: now }
  const identities = Array.from({ length: ACCOUNTS }, newId)
  await handle.db
    .insertInto('identities')
    .values(identities.map((identity_id) => ({ identity_id, ...names })))
    .execute()
  const settings = { smtp: { host: 'h', port: 25, security: 'tls', user: 'u', login: 'password' }, imap: null }
  const [foreign = ''] = identities
  const rows = identities.map((identity_id) => ({
    identity_id,
    address: 'a@example.com',
    settings: JSON.stringify(settings),
    sealed: (identity_id === foreign ? createSecretBox([randomBytes(32)]) : service.secrets).seal(
      JSON.stringify({ smtp: `password of ${identity_id}`, imap: null }),
      emailPlace(tenant.id, identity_id),
    ),
    daily_limit: 1,
    spacing_seconds: 1,
    created_at: now,
    updated_at: now,
  }))
  await handle.db.insertInto('email_accounts').values(rows).execute()

  const all = ACCOUNTS - 1 + 3
  expect(await rotate(text(newKey, oldKey))).toEqual({ resealed: all, current: 0, unreadable: 1 })
  expect(await rotate(text(newKey, oldKey))).toEqual({ resealed: 0, current: all, unreadable: 1 })
  expect(await rotate(text(newKey))).toEqual({ resealed: 0, current: all, unreadable: 1 })

  for (const identityId of identities.slice(1)) {
    const account = await openEmailAccount(handle, { ...service.mail, secrets: onlyNew }, identityId)
    expect(account?.smtp.login).toEqual({ user: 'u', password: `password of ${identityId}` })
  }
  const row = await handle.db.selectFrom('webhook_subscriptions').selectAll().executeTakeFirstOrThrow()
  expect(onlyNew.open(row.secret_sealed, secretPlace(tenant.id, subscriptionId))).toBe(rotated.signingSecret)
  expect(onlyNew.open(row.previous_secret_sealed ?? '', secretPlace(tenant.id, subscriptionId))).toBe(signingSecret)
  expect(JSON.parse(onlyNew.open(row.headers_sealed ?? '', headersPlace(tenant.id, subscriptionId)))).toEqual(
    wanted.headers,
  )
})
