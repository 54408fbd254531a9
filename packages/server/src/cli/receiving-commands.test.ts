import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { createIdentity } from '../../test/social.ts'
import { suppress } from '../identities/suppressions.ts'
import { newId } from '../platform/ids.ts'
import { HOUR_MS } from '../platform/time.ts'
import type { Values } from './command.ts'
import { DATABASE_COMMANDS } from './commands.ts'
import type { Session } from './session.ts'

let service: TestService
let tenant: TestTenant
let session: Session
let directory: string

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  session = commandSession(service)
  directory = await mkdtemp(join(tmpdir(), 'cds-test-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const run = (name: string, values: Values) =>
  DATABASE_COMMANDS[name]?.run(session, { tenant: tenant.id, ...values }, new Date())

test('an invalid call returns an error and stores nothing', async () => {
  const file = join(directory, 'token')
  const connection = { connector: 'intercom', 'credentials-file': file }
  await expect(
    run('connection create', { ...connection, 'credentials-file': join(directory, 'none') }),
  ).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('ENOENT'),
  })
  await writeFile(file, '{"access_token": "x y"}\n')
  await expect(run('connection create', connection)).rejects.toMatchObject({
    code: 'validation_error',
    details: [{ path: 'credentials.access_token' }],
  })
  // The whole file is read, so the JSON may be formatted.
  await writeFile(file, '{\n  "access_token": "a-token-of-intercom"\n}\n')
  await expect(run('connection create', { ...connection, settings: '{"region": "moon"}' })).rejects.toMatchObject({
    code: 'validation_error',
    details: [{ path: 'settings.region' }],
  })
  for (const name of ['connection get', 'connection pull', 'connection delete']) {
    await expect(run(name, { 'connection-id': newId() })).rejects.toMatchObject({ code: 'not_found' })
  }
  await writeFile(file, 'a-token\n')
  const client = { 'token-url': 'https://example.com/token', 'client-id': 'c' }
  const identityId = await createIdentity(tenant)
  const unusable: [Values, string, string | undefined][] = [
    [{ 'refresh-token-file': file }, 'validation_error', 'token_url'],
    [{ 'refresh-token-file': file, 'token-url': client['token-url'] }, 'validation_error', 'client_id'],
    [{ 'refresh-token-file': file, 'token-file': file, ...client }, 'validation_error', 'refresh_token'],
    [{ 'password-file': file, ...client }, 'validation_error', 'token_url'],
    [{}, 'validation_error', 'password'],
    [{ 'imap-port': '993', 'password-file': file }, 'invalid_option', undefined],
    [{ 'smtp-port': '0', 'password-file': file }, 'invalid_option', undefined],
    [
      { 'refresh-token-file': file, ...client, 'client-secret-file': file, 'client-secret-env': 'PATH' },
      'invalid_option',
      undefined,
    ],
    [
      { 'refresh-token-file': file, ...client, 'client-secret-file': join(directory, 'none') },
      'invalid_option',
      undefined,
    ],
  ]
  for (const [given, code, path] of unusable) {
    const account = { 'identity-id': identityId, address: 'a@example.com', 'smtp-host': 'smtp.example.com', ...given }
    await expect(run('email-account set', account), Object.keys(given).join()).rejects.toMatchObject({
      code,
      ...(path === undefined ? {} : { details: [{ path }] }),
    })
  }
  await expect(run('mailbox reread', { 'identity-id': 'nonsense' })).rejects.toMatchObject({ code: 'not_found' })
  await expect(run('mailbox reread', { 'identity-id': newId() })).rejects.toMatchObject({ code: 'not_found' })
  await expect(run('mailbox list', { tenant: newId() })).rejects.toMatchObject({ code: 'not_found' })
  expect(await run('mailbox list', {})).toMatchObject({ mailboxes: [] })
})

test('a suppression is removed with the consent of the owner of the address', async () => {
  const address = 'ada@example.com'
  await suppress(tenant.handle, { address, reason: 'unsubscribed', details: null }, new Date())
  expect(await run('suppression get', { address })).toMatchObject({ suppression: { reason: 'unsubscribed' } })
  await expect(run('suppression remove', { address })).rejects.toMatchObject({ code: 'consent_required' })
  expect(await run('suppression remove', { address, consented: 'true' })).toMatchObject({ deleted: true })
  expect(await run('suppression list', {})).toMatchObject({ suppressions: [] })
})

test('an OAuth client is stored with the secret in a file', async () => {
  const file = join(directory, 'secret.txt')
  await writeFile(file, 'secret-of-the-client\n')
  for (const provider of ['salesforce', 'pipedrive']) {
    const options = { provider, 'client-id': 'KEY' }
    await expect(run('oauth-client set', options)).rejects.toMatchObject({ code: 'invalid_option' })
    const set = await run('oauth-client set', { ...options, 'client-secret-file': file })
    expect(set).toMatchObject({ oauth_client: { provider, client_id: 'KEY', origin: 'workspace' } })
  }
})

test('a connection is shown, paused and deleted', async () => {
  const later = new Date(Date.now() + HOUR_MS)
  const id = newId()
  await tenant.handle.db
    .insertInto('connections')
    .values({
      connection_id: id,
      connector: 'intercom',
      source: 'intercom',
      account: 'Ours',
      settings: JSON.stringify({ region: 'eu' }),
      sealed: 'sealed',
      position: JSON.stringify({ runId: null, objects: {} }),
      state: 'waiting',
      error: null,
      next_pull_at: later,
      created_at: later,
      updated_at: later,
    })
    .execute()
  const options = { 'connection-id': id }
  const shown = { source: 'intercom', settings: { region: 'eu' }, account: 'Ours', error: null, last_run: null }
  expect(await run('connection get', options)).toMatchObject({
    connection: { ...shown, state: 'waiting', next_pull_at: later.toISOString() },
  })
  // The stored sign-in is used, which is none here; another region is another host, which it must not be sent to.
  await expect(run('connection update', { ...options, settings: '{"region": "eu"}' })).rejects.toMatchObject({
    code: 'connection_refused',
  })
  await expect(run('connection update', { ...options, settings: '{"region": "us"}' })).rejects.toMatchObject({
    code: 'validation_error',
  })
  expect(await run('connection pause', options)).toMatchObject({ connection: { state: 'paused' }, changed: true })
  await expect(run('connection pull', options)).rejects.toMatchObject({ code: 'connection_paused' })
  expect(await run('connection delete', options)).toMatchObject({ deleted: true, source: 'intercom' })
  const logged = await tenant.handle.db
    .selectFrom('audit_log')
    .select(['action', 'subject_id'])
    .where('subject_kind', '=', 'connection')
    .orderBy('entry_id')
    .execute()
  expect(logged).toEqual([
    { action: 'connection.paused', subject_id: id },
    { action: 'connection.deleted', subject_id: id },
  ])
})
