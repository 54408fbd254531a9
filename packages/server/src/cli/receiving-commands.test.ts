import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { eraseSuppression, suppress, suppressionOf } from '../identities/suppressions.ts'
import { unsubscribe } from '../identities/unsubscribe/unsubscribe.ts'
import { newId } from '../platform/ids.ts'
import { openTenant } from '../platform/tenant.ts'
import type { Values } from './command.ts'
import { COMMANDS } from './commands.ts'
import type { Session } from './session.ts'

let service: TestService
let tenant: TestTenant
let session: Session
let directory: string

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  session = {
    stores: service.stores,
    serviceRuns: true,
    address: service.postgres.address,
    config: service.config,
    tenant: (tenantId) => openTenant(service.stores, tenantId),
    writing: () => service.writing,
    close: async () => {},
  }
  directory = await mkdtemp(join(tmpdir(), 'cds-test-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const run = (name: string, values: Values) => COMMANDS[name]?.run(session, { tenant: tenant.id, ...values }, new Date())

test('what is wrong with a call is said, and nothing is kept', async () => {
  const file = join(directory, 'token')
  await expect(run('source connect-intercom', { 'token-file': join(directory, 'none') })).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('ENOENT'),
  })
  await writeFile(file, 'x y\n')
  await expect(run('source connect-intercom', { 'token-file': file })).rejects.toMatchObject({
    code: 'validation_error',
  })
  await writeFile(file, 'a-token-of-intercom\n')
  await expect(run('source connect-intercom', { 'token-file': file, region: 'moon' })).rejects.toMatchObject({
    code: 'validation_error',
  })
  for (const name of ['source status', 'source sync', 'source disconnect']) {
    await expect(run(name, { source: 'intercom' })).rejects.toMatchObject({ code: 'not_found' })
  }
  const client = { 'token-url': 'https://example.com/token', 'client-id': 'c' }
  for (const given of [
    { 'refresh-token-file': file },
    { 'refresh-token-file': file, 'client-id': 'c' },
    { 'refresh-token-file': file, ...client, 'client-secret-file': file, 'client-secret-env': 'PATH' },
    { 'refresh-token-file': file, ...client, 'client-secret-file': join(directory, 'none') },
    { 'refresh-token-file': file, 'token-file': file, ...client },
    { 'password-file': file, ...client },
  ]) {
    const account = { identity: newId(), address: 'a@example.com', 'smtp-host': 'smtp.example.com', ...given }
    await expect(run('identity email-set', account), Object.keys(given).join()).rejects.toMatchObject({
      code: 'invalid_option',
    })
  }
  await expect(run('mailbox reread', { identity: 'nonsense' })).rejects.toMatchObject({ code: 'not_found' })
  await expect(run('mailbox reread', { identity: newId() })).rejects.toMatchObject({ code: 'not_found' })
  await expect(run('mailbox status', { tenant: newId() })).rejects.toMatchObject({ code: 'not_found' })
  expect(await run('mailbox status', {})).toEqual({ mailboxes: [] })
})

test('addresses get no more mail, and get it again; who unsubscribed only with their consent', async () => {
  const owner = await createTestTenant(service)
  const { handle } = owner
  const run = (name: string, values: Values) =>
    COMMANDS[name]?.run(session, { tenant: owner.id, ...values }, new Date())
  const ada = await owner.contact('ada@example.com')
  const added = { address: 'ada@example.com', reason: 'manual', details: 'asked by phone', at: expect.any(String) }
  const options = { address: ' Ada@Example.com', details: 'asked by phone' }
  expect(await run('suppression add', options)).toEqual({ ...added, added: true })
  expect(await run('suppression add', { address: 'ada@example.com' })).toEqual({ ...added, added: false })
  const link = { address: 'ada@example.com', contactId: ada }
  const subscribed = async () =>
    (await owner.call('GET', `/v1/contacts/${ada}`)).body.contact.properties.unsubscribed === false
  expect(await run('suppression remove', { address: 'ada@example.com' })).toEqual({ ...added, removed: true })
  expect(await subscribed()).toBe(false)
  await expect(run('suppression remove', { address: 'ada@example.com' })).rejects.toMatchObject({ code: 'not_found' })

  // Whoever bounced and then unsubscribed has unsubscribed.
  await suppress(handle, { address: 'ada@example.com', reason: 'bounced', details: null }, new Date())
  await unsubscribe(handle, service.writing, link)
  const later = new Date(Date.now() + 60_000)
  await suppress(handle, { address: 'bob@example.com', reason: 'bounced', details: '550 no such user' }, later)
  expect(await run('suppression list', {})).toMatchObject({
    suppressions: [{ address: 'bob@example.com' }, { address: 'ada@example.com', reason: 'unsubscribed' }],
    total_items: 2,
  })
  expect(await run('suppression list', { limit: '1' })).toMatchObject({
    suppressions: [{ reason: 'bounced', details: '550 no such user' }],
    total_items: 2,
  })
  expect(await run('suppression list', { address: 'ada@example.com' })).toMatchObject({ reason: 'unsubscribed' })
  await expect(run('suppression remove', { address: 'ada@example.com' })).rejects.toMatchObject({
    code: 'consent_required',
  })
  expect(await suppressionOf(handle, 'ada@example.com')).toMatchObject({ reason: 'unsubscribed' })
  expect(await run('suppression remove', { address: 'ada@example.com', consented: true })).toMatchObject({
    reason: 'unsubscribed',
    removed: true,
  })
  expect(await suppressionOf(handle, 'ada@example.com')).toBeNull()
  expect(await subscribed()).toBe(true)

  // One who was erased is known by their digest alone.
  await suppress(handle, { address: 'bob@example.com', reason: 'complained', details: null }, new Date())
  await handle.transaction((tx) => eraseSuppression(tx, 'bob@example.com'))
  await suppress(handle, { address: 'bob@example.com', reason: 'bounced', details: null }, new Date())
  await expect(run('suppression remove', { address: 'bob@example.com' })).rejects.toMatchObject({
    code: 'consent_required',
  })
  await run('suppression remove', { address: 'bob@example.com', consented: true })
  expect(await run('suppression list', {})).toEqual({ suppressions: [], total_items: 0 })

  for (const [name, values, code] of [
    ['suppression add', { address: 'nobody' }, 'validation_error'],
    ['suppression add', { address: 'a@example.com', details: 'x'.repeat(501) }, 'validation_error'],
    ['suppression list', { limit: '0' }, 'invalid_option'],
    ['suppression list', { address: 'a@example.com' }, 'not_found'],
    ['suppression remove', { address: 'a@example.com', tenant: newId() }, 'not_found'],
  ] as const) {
    await expect(run(name, values)).rejects.toMatchObject({ code })
  }
  const entries = await handle.db
    .selectFrom('audit_log')
    .select(['action', 'subject_id', 'details'])
    .where('subject_kind', '=', 'suppression')
    .orderBy('entry_id')
    .execute()
  expect(entries.map(({ action, details }) => [action, details])).toEqual([
    ['suppression.added', {}],
    ['suppression.removed', { reason: 'manual' }],
    ['suppression.removed', { reason: 'unsubscribed', consented: true }],
    ['suppression.removed', { reason: 'complained', consented: true }],
  ])
  // The log is never changed: it names nobody who may have to be erased.
  expect(JSON.stringify(entries)).not.toContain('@')
})

test('a connection is shown, asked for and ended', async () => {
  const later = new Date(Date.now() + 3_600_000)
  await tenant.handle.db
    .insertInto('messaging_connections')
    .values({
      source: 'intercom',
      settings: JSON.stringify({ region: 'eu', workspace: 'Ours' }),
      sealed: 'sealed',
      position: '{}',
      state: 'waiting',
      next_pull_at: later,
      created_at: later,
      updated_at: later,
    })
    .execute()
  const shown = { source: 'intercom', region: 'eu', workspace: 'Ours', state: 'waiting', error: null, synced_at: null }
  expect(await run('source status', { source: 'intercom' })).toEqual({ ...shown, next_pull_at: later.toISOString() })
  const { next_pull_at } = (await run('source sync', { source: 'intercom' })) as { next_pull_at: string }
  expect(Date.parse(next_pull_at)).toBeLessThanOrEqual(Date.now())
  expect(await run('source disconnect', { source: 'intercom' })).toEqual({ source: 'intercom', disconnected: true })
  const logged = await tenant.handle.db
    .selectFrom('audit_log')
    .select(['action', 'subject_id'])
    .orderBy('entry_id')
    .execute()
  expect(logged).toEqual([
    { action: 'source.pull_ordered', subject_id: 'intercom' },
    { action: 'source.disconnected', subject_id: 'intercom' },
  ])
})
