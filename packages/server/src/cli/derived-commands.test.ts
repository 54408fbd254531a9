import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TSchema } from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandLine } from '../../test/command-line.ts'
import { startCommand } from '../../test/process.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { createIdentity, socialOf } from '../../test/social.ts'
import { OPERATIONS } from '../assembly/all-operations.ts'
import { optionsOf, readOptions } from '../operations/command-line.ts'
import { OPERATION_COMMANDS } from './operation-commands.ts'

interface JsonSchema {
  type?: string
  items?: object
  minItems?: number
  anyOf?: JsonSchema[]
}

let service: TestService
let tenant: TestTenant
let directory: string
let environment: Record<string, string>
let commandLine: CommandLine

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  directory = await mkdtemp(join(tmpdir(), 'cds-derived-'))
  const { databaseUrl, dataDirectory } = service.config
  environment = { DATABASE_URL: databaseUrl ?? '', CDS_DATA_DIR: dataDirectory }
  commandLine = new CommandLine(environment)
})
afterAll(async () => {
  await commandLine?.close()
  await rm(directory, { recursive: true, force: true })
})

/** Runs a command for the tenant, beside the running service. */
async function cds(words: string, options: Record<string, string> = {}, variables: Record<string, string> = {}) {
  const args = Object.entries({ tenant: tenant.id, ...options }).flatMap(([name, value]) => [`--${name}`, value])
  const { exit, stdout, stderr } = await commandLine.run([...words.split(' '), ...args], variables)
  return { exit, stderr, body: JSON.parse(stdout) }
}

describe('every operation', () => {
  test('has a command of its own', () => {
    const names = OPERATIONS.map(({ command }) => command)
    expect(new Set(names).size).toBe(OPERATIONS.length)
    expect(Object.keys(OPERATION_COMMANDS).sort()).toEqual(names.toSorted())
  })

  test('has an option for each field, and none whose value is a secret', () => {
    for (const operation of OPERATIONS) {
      const { command } = operation
      const options = Object.keys(OPERATION_COMMANDS[command]?.options ?? {})
      for (const [name, { format }] of Object.entries(operation.input) as [string, { format?: string }][]) {
        const { isDivided = false, name: own = name } = operation.options?.[name] ?? {}
        const option = own.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
        const place = `${command}: ${name}`
        if (format === 'password') {
          expect.soft(options, place).not.toContain(option)
          expect.soft(options, place).toEqual(expect.arrayContaining([`${option}-file`, `${option}-env`]))
        } else if (isDivided) {
          expect
            .soft(
              options.filter((each) => each.startsWith(`${option}-`)),
              place,
            )
            .not.toEqual([])
        } else expect.soft(options, place).toContain(option)
        // A field with such a name must be declared as a secret. A key or a link may be named by its id.
        if (/password|secret|token$/.test(name)) expect.soft(format, place).toBe('password')
      }
      expect.soft(options, command).toEqual(['tenant', ...Object.keys(optionsOf(operation))])
    }
  })
})

describe('a list', () => {
  const lists = OPERATIONS.flatMap((operation) =>
    Object.entries(operation.input as Record<string, JsonSchema>).flatMap(([name, schema]) => {
      const { items, minItems = 0 } = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema
      return items === undefined ? [] : [{ command: operation.command, operation, name, minItems }]
    }),
  )
  const read = (operation: (typeof OPERATIONS)[number], name: string) => {
    const alone = { ...operation, input: { [name]: operation.input[name] as TSchema } }
    const [option = ''] = Object.keys(optionsOf(alone))
    return readOptions(alone, { [option]: [''] }, () => {})[name]
  }

  test('is emptied by an empty text, unless it needs an item, which the error says', () => {
    for (const { command, operation, name, minItems } of lists) {
      const place = `${name} of ${command}`
      if (minItems === 0) expect.soft(read(operation, name), place).toEqual([])
      else expect.soft(() => read(operation, name), place).toThrow(/^--[a-z-]+ must (be|have)/)
    }
    for (const isFilled of [true, false]) expect(lists.some(({ minItems }) => minItems > 0 === isFilled)).toBe(true)
  })

  test('of a tenant is emptied', async () => {
    const words = { 'ignored-ids': 'demo', 'personal-properties': 'salary' }
    expect((await cds('tenant update', words)).body.tenant).toMatchObject({ ignored_ids: ['demo'] })
    const { exit, body } = await cds('tenant update', { 'ignored-ids': '', 'personal-properties': '' })
    expect(exit).toBe(0)
    expect(body).toMatchObject({
      tenant: { ignored_ids: [] },
      ignored_ids: { added: [], removed: ['demo'] },
      personal_properties: { removed: ['salary'] },
    })
  })
})

describe.each(['social', 'linkedin'])('identity %s', (network) => {
  test('logs an identity in with a password from a file or a variable, and a code', async () => {
    const identityId = await createIdentity(tenant)
    const identity = { 'identity-id': identityId }
    const none = await cds(`identity ${network}-login`, identity)
    expect(none).toMatchObject({ exit: 1, body: { error: { code: 'validation_error' } } })
    const checked = await cds(`identity ${network}-check`, identity)
    expect(checked).toMatchObject({ exit: 0, body: { connected: false, profile_id: null } })

    const password = 'correct horse battery'
    const login = { ...identity, username: '2fa@example.com', country: 'GB' }
    const started = await cds(
      `identity ${network}-login`,
      { ...login, 'password-env': 'MY_SECRET' },
      { MY_SECRET: password },
    )
    expect(started).toMatchObject({
      exit: 0,
      body: { identity_id: identityId, login_result: { status: expect.any(String) } },
    })
    const session = { ...identity, 'session-id': started.body.login_result.session_id }
    const flow = socialOf(tenant, identityId, network)
    await flow.until(session['session-id'], 'awaiting_2fa')
    const shown = await cds(`identity ${network}-status`, session)
    expect(shown).toMatchObject({ exit: 0, body: { status: 'awaiting_2fa' } })
    expect((await cds(`identity ${network}-code`, { ...session, code: '123456' })).exit).toBe(0)
    await flow.until(session['session-id'], 'completed')
    expect((await cds(`identity ${network}-check`, identity)).body).toMatchObject({ connected: true })

    const file = join(directory, 'password')
    await writeFile(file, `${password}\n`)
    const wrong = await cds(`identity ${network}-login`, {
      ...login,
      username: 'wrong@example.com',
      'password-file': file,
    })
    expect(wrong).toMatchObject({ exit: 1, body: { error: { code: 'credentials_rejected' } } })
    expect(JSON.stringify([started, shown, wrong])).not.toContain(password)
    const asArgument = await cds(`identity ${network}-login`, { ...login, password })
    expect(asArgument).toMatchObject({ exit: 2, body: { error: { code: 'wrong_call' } } })
    const actors = await tenant.handle.db
      .selectFrom('audit_log')
      .select('actor')
      .where('subject_id', '=', identityId)
      .execute()
    expect(actors.map(({ actor }) => actor)).toContainEqual({ kind: 'command_line' })
  })
})

test('a password is the only line of standard input, of a file or of a variable', async () => {
  const identityId = await createIdentity(tenant)
  const login = { 'identity-id': identityId, username: 'ada@example.com' }
  const file = join(directory, 'password')
  const invalid = { exit: 2, body: { error: { code: 'invalid_option' } } }
  for (const text of ['', '\n', '\nsecond line', 'two\nlines\n', 'two\r\nlines', 'x\n\n', 'x'.repeat(16_385)]) {
    await writeFile(file, text)
    expect(await cds('identity social-login', { ...login, 'password-file': file })).toMatchObject(invalid)
  }
  const inVariable = { ...login, 'password-env': 'LINES' }
  expect(await cds('identity social-login', inVariable, { LINES: 'two\nlines' })).toMatchObject(invalid)
  const options = Object.entries({ tenant: tenant.id, ...login, 'password-file': '-' })
  const args = ['identity', 'social-login', ...options.flatMap(([name, value]) => [`--${name}`, value])]
  const { exit, stdout } = await startCommand(args, environment, { input: 'correct horse\r\n' }).ended
  expect(exit).toBe(0)
  await socialOf(tenant, identityId).until(JSON.parse(stdout).login_result.session_id, 'completed')
})

test('limit get returns the limits of the configuration, and says that only the service counts requests', async () => {
  const { body: shown } = await tenant.call('GET', '/v1/limits')
  const { exit, stderr, body } = await cds('limit get', {}, { CDS_RATE_LIMITS: 'off' })
  expect(exit).toBe(0)
  expect(body).toMatchObject({ enabled: shown.enabled, limits: shown.limits })
  expect(body.requests).toEqual({
    tracking: null,
    forms: null,
    keys: shown.requests.keys.map((key: object) => ({ ...key, requests: null })),
  })
  expect(stderr).toContain('only the running service has them')
  const limited = await cds('limit get', {}, { CDS_RATE_LIMITS: 'on', CDS_RATE_LIMIT_API_PER_MINUTE: '42' })
  expect(limited.body.limits).toContainEqual(expect.objectContaining({ name: 'apiPerMinute', per_minute: 42 }))
})

test('source push-conversations stores the messages of a file, and exits with 3 if a conversation fails', async () => {
  const file = join(directory, 'conversations.json')
  const message = {
    message_id: 'm1',
    sent_at: '2026-01-01T10:00:00Z',
    direction: 'inbound',
    from: {},
    to: [],
    text: 'Hi',
  }
  const record = { thread_key: 't1', contact: { email: 'ada@example.com' }, messages: [message] }
  await writeFile(file, JSON.stringify({ records: [record, { thread_key: 't2' }] }))
  const source = { source: 'helpdesk' }
  const pushed = await cds('source push-conversations', { ...source, file })
  expect(pushed).toMatchObject({ exit: 3, body: { failed: 1, results: [{ status: 'created' }, { status: 'failed' }] } })
  const again = await cds('source push-conversations', { ...source, records: JSON.stringify(record) })
  expect(again).toMatchObject({ exit: 0, body: { results: [{ status: 'unchanged' }] } })
})

test('only the operator can add a domain as verified', async () => {
  const domain = `operator-${tenant.id}.example`
  const { status } = await tenant.call('POST', '/v1/domains', { domain, verified: true })
  expect(status).toBe(400)
  const claimed = await cds('domain add', { domain })
  expect(claimed.body.domain).toMatchObject({ domain, verified_at: null, verified_by: null })
  const { exit, stdout } = await commandLine.run([
    'domain',
    'add',
    '--tenant',
    tenant.id,
    '--domain',
    domain,
    '--verified',
  ])
  expect(exit).toBe(0)
  expect(JSON.parse(stdout).domain).toMatchObject({
    domain_id: claimed.body.domain.domain_id,
    verified_at: expect.any(String),
    verified_by: 'operator',
  })
})

describe('event send --file', () => {
  const event = (name: string) => ({ event: name, user_id: 'user-1' })
  const count = async (name: string) =>
    (await tenant.call('GET', `/v1/events?event_type=${name}&count_only=true`)).body.count

  test.each([
    ['a list', [event('of_a_list'), event('of_a_list')], 2, 'of_a_list'],
    ['one event', event('alone'), 1, 'alone'],
    ['the body of a request', { events: [event('of_a_body')] }, 1, 'of_a_body'],
  ])('records %s', async (_what, contents, number, name) => {
    const file = join(directory, 'events.json')
    await writeFile(file, `\uFEFF${JSON.stringify(contents, null, 2)}\n`)
    expect(await cds('event send', { file })).toMatchObject({ exit: 0, body: { failed: 0 } })
    expect(await count(name)).toBe(number)
  })

  test('reads standard input', async () => {
    const args = ['event', 'send', '--tenant', tenant.id, '--file', '-']
    const input = JSON.stringify([event('piped'), { event: 'piped' }])
    const { exit, stdout } = await startCommand(args, environment, { input }).ended
    expect([exit, JSON.parse(stdout).failed]).toEqual([3, 1])
    expect(await count('piped')).toBe(1)
  })

  test('rejects any other file, and records nothing', async () => {
    const file = join(directory, 'unusable.json')
    const calls: [string, Record<string, string>, string][] = [
      ['[]', { events: JSON.stringify(event('unusable')) }, 'wrong_call'],
      ['', {}, 'invalid_option'],
      ['[]', {}, 'invalid_option'],
      [`[${JSON.stringify(event('unusable'))}`, {}, 'invalid_option'],
      [JSON.stringify(Array.from({ length: 501 }, () => event('unusable'))), {}, 'invalid_option'],
      [JSON.stringify([event('unusable'), { padding: 'x'.repeat(4_000 * 1024) }]), {}, 'invalid_option'],
    ]
    for (const [contents, more, code] of calls) {
      await writeFile(file, contents)
      const { exit, body } = await cds('event send', { file, ...more })
      expect([exit, body.error.code], contents.slice(0, 40)).toEqual([2, code])
    }
    const missing = await cds('event send', { file: join(directory, 'none') })
    expect(missing.body.error).toMatchObject({ code: 'invalid_option', message: expect.stringContaining('ENOENT') })
    expect(await count('unusable')).toBe(0)
  })
})
