import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasDovecot } from '../../test/dovecot.ts'
import { type MailBench, mailTo, type Sender, settingsOf, startMailBench, TESTER } from '../../test/mail.ts'
import { createTestTenant, startTestService, type TestTenant } from '../../test/service.ts'
import type { MailServer, TokenRenewal } from './email-account.ts'
import {
  checkEmailAccount,
  describeEmailAccount,
  openEmailAccount,
  removeEmailAccount,
  setEmailAccount,
} from './email-accounts.ts'
import type { EmailAccountSettings } from './email-settings.ts'
import { sendMail } from './mail/send.ts'

describe.skipIf(!hasDovecot)('an email account', () => {
  let bench: MailBench
  let tenant: TestTenant
  let sender: Sender

  beforeAll(async () => {
    bench = await startMailBench()
  })
  afterAll(() => bench?.close())
  beforeEach(async () => {
    tenant = await createTestTenant(bench.service)
    sender = await bench.addSender(tenant)
  })

  const set = (settings: EmailAccountSettings) =>
    setEmailAccount(tenant.handle, bench.service.mail, TESTER, sender.identityId, settings, bench.now())
  const settings = () => settingsOf(bench.servers, sender.mailbox)
  const wrong = (server: MailServer): MailServer => ({
    ...server,
    login: { user: server.login.user, password: 'not the password' },
  })
  const check = () => checkEmailAccount(tenant.handle, bench.service.mail, sender.identityId, bench.now())
  const shown = async () => (await tenant.call('GET', `/v1/identities/${sender.identityId}`)).body.identity

  test('is stored after both servers accept the login, and returned without its secrets', async () => {
    const described = await set({ ...settings(), address: ' Ada@Mail.example', dailyLimit: 7, spacingSeconds: 8 })
    const { smtp, imap } = bench.servers
    const shownLogin = { host: 'localhost', user: sender.mailbox.user, login: 'password' }
    expect(described).toEqual({
      identity_id: sender.identityId,
      address: 'ada@mail.example',
      smtp: { ...shownLogin, port: smtp.port, security: 'starttls' },
      imap: { ...shownLogin, port: imap.tlsPort, security: 'tls' },
      renewal: null,
      daily_limit: 7,
      spacing_seconds: 8,
      connected: true,
      verified_at: expect.any(String),
      error: null,
      needs_sign_in: false,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect(await describeEmailAccount(tenant.handle, sender.identityId)).toEqual(described)
    expect((await shown()).email_account).toEqual({ address: 'ada@mail.example', connected: true })
    const opened = await openEmailAccount(tenant.handle, bench.service.mail, sender.identityId)
    expect(opened).toMatchObject({ name: 'Ada Lovelace', smtp: { login: { password: sender.mailbox.password } } })
    await removeEmailAccount(tenant.handle, sender.identityId)
    expect(await describeEmailAccount(tenant.handle, sender.identityId)).toBeNull()
    expect((await shown()).email_account).toEqual({ address: null, connected: false })
    await expect(removeEmailAccount(tenant.handle, sender.identityId)).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(check()).rejects.toMatchObject({ code: 'not_found' })
  })

  test('is not stored if a login fails, and the error has the reply of each server', async () => {
    const before = await describeEmailAccount(tenant.handle, sender.identityId)
    const { smtp, imap, ...rest } = settings()
    const attempt = (changed: Partial<EmailAccountSettings>) => set({ ...rest, smtp, imap, ...changed })
    await expect(attempt({ smtp: wrong(smtp) })).rejects.toMatchObject({
      status: 400,
      code: 'mail_login_failed',
      message: expect.stringContaining('SMTP: 535 5.7.8 Username and password not accepted'),
      details: [{ path: 'smtp', message: '535 5.7.8 Username and password not accepted' }],
    })
    await expect(attempt({ imap: imap && wrong(imap) })).rejects.toMatchObject({
      details: [{ path: 'imap', message: expect.stringContaining('uthentication failed') }],
    })
    await expect(attempt({ smtp: wrong(smtp), imap: imap && wrong(imap) })).rejects.toMatchObject({
      details: [{ path: 'smtp' }, { path: 'imap' }],
    })
    await expect(attempt({ smtp: { ...smtp, port: 1 } })).rejects.toMatchObject({
      details: [{ path: 'smtp', message: expect.stringContaining('ECONNREFUSED') }],
    })
    expect(await describeEmailAccount(tenant.handle, sender.identityId)).toEqual(before)
  })

  test.each(['tls', 'starttls', 'none'] as const)(
    'logs in over %s, by password and by access token',
    async (security) => {
      const { smtp, imap } = bench.servers
      const { user, password, accessToken } = sender.mailbox
      for (const login of [
        { user, password },
        { user, accessToken },
      ]) {
        const described = await set({
          address: user,
          smtp: { host: '127.0.0.1', port: security === 'tls' ? smtp.tlsPort : smtp.port, security, login },
          imap: { host: 'LOCALHOST', port: security === 'tls' ? imap.tlsPort : imap.port, security, login },
        })
        expect(described).toMatchObject({
          connected: true,
          smtp: { login: 'password' in login ? 'password' : 'access_token' },
        })
      }
      const contact = await tenant.contact('grace@example.com')
      await sendMail(tenant.handle, bench.service.mail, mailTo(sender, contact, 'grace@example.com'))
      expect(bench.servers.smtp.accepted.at(-1)).toMatchObject({ user, secure: security !== 'none' })
      const wrongToken = { user, accessToken: 'another token' }
      const server = { host: 'localhost', port: smtp.port, security: 'starttls', login: wrongToken } as const
      await expect(set({ ...settings(), smtp: server })).rejects.toMatchObject({ details: [{ path: 'smtp' }] })
    },
  )

  test('requires a trusted certificate, and never falls back to an unencrypted connection', async () => {
    const { ca: _, ...untrusting } = bench.service.mail.connector
    const connector = { ...untrusting, ca: undefined }
    const mail = { ...bench.service.mail, connector }
    const attempt = setEmailAccount(tenant.handle, mail, TESTER, sender.identityId, settings(), bench.now())
    await expect(attempt).rejects.toMatchObject({
      details: [
        { path: 'smtp', message: expect.stringContaining('certificate') },
        { path: 'imap', message: expect.stringContaining('certificate') },
      ],
    })
    const asked: string[] = []
    const plain = new SMTPServer({
      hideSTARTTLS: true,
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      logger: false,
      onAuth: ({ username = '' }, _session, done) => {
        asked.push(username)
        done(null, { user: username })
      },
    })
    const listening = plain.listen(0, '127.0.0.1')
    await once(listening, 'listening')
    const { port } = listening.address() as AddressInfo
    const { smtp } = settings()
    await expect(set({ ...settings(), smtp: { ...smtp, port } })).rejects.toMatchObject({ details: [{ path: 'smtp' }] })
    expect(asked).toEqual([])
    await new Promise<void>((resolve) => plain.close(() => resolve()))
  })

  test('a password that a server echoes is redacted', async () => {
    const server = createServer((socket) => {
      socket.write('220 hello\r\n')
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        const said = String(chunk)
        socket.write(said.startsWith('EHLO') ? '250-hello\r\n250 AUTH PLAIN\r\n' : `535 ${said.trim()} is wrong\r\n`)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const smtp = { host: 'localhost', port, security: 'none', login: { user: 'ada', password: 'hunter22' } } as const
    const error = await set({ ...settings(), smtp }).catch((error) => error)
    expect(error.details).toEqual([{ path: 'smtp', message: '535 AUTH PLAIN [secret] is wrong' }])
    server.close()
  })

  test('can be checked again, and is not connected after a failed login', async () => {
    bench.servers.smtp.logins.set(sender.mailbox.user, { password: 'changed', accessToken: 'changed' })
    const contact = await tenant.contact('grace@example.com')
    const mail = mailTo(sender, contact, 'grace@example.com')
    await expect(sendMail(tenant.handle, bench.service.mail, mail)).rejects.toMatchObject({ code: 'mail_unavailable' })
    expect((await shown()).email_account.connected).toBe(false)
    expect(await check()).toMatchObject({ connected: false, error: expect.stringMatching(/^SMTP: 535 /) })
    bench.servers.smtp.logins.set(sender.mailbox.user, sender.mailbox)
    expect(await check()).toMatchObject({ connected: true, error: null })
    expect((await shown()).email_account.connected).toBe(true)
  })

  test('has secrets that can be decrypted for its identity only, and appear in no response, log line or audit entry', async () => {
    await set(settings())
    await expect(set({ ...settings(), smtp: wrong(settings().smtp) })).rejects.toThrow()
    await check()
    const row = await tenant.handle.db
      .selectFrom('email_accounts')
      .selectAll()
      .where('identity_id', '=', sender.identityId)
      .executeTakeFirstOrThrow()
    const other = await bench.addSender(tenant)
    await tenant.handle.db
      .updateTable('email_accounts')
      .set({ sealed: row.sealed })
      .where('identity_id', '=', other.identityId)
      .execute()
    await expect(openEmailAccount(tenant.handle, bench.service.mail, other.identityId)).rejects.toThrow()
    const entries = await tenant.handle.db.selectFrom('audit_log').selectAll().execute()
    expect(entries.map(({ action }) => action)).toContain('identity.email_set')
    const everything = JSON.stringify([row, entries, await shown(), bench.service.logged])
    for (const secret of [sender.mailbox.password, 'not the password']) {
      for (const form of [secret, Buffer.from(secret).toString('base64')]) expect(everything).not.toContain(form)
    }
  })

  test.each<[string, (all: EmailAccountSettings) => Partial<EmailAccountSettings>, string]>([
    ['address', () => ({ address: 'ada' }), 'address'],
    ['host', ({ smtp }) => ({ smtp: { ...smtp, host: 'mail example' } }), 'smtp.host'],
    ['URL as a host', ({ smtp }) => ({ smtp: { ...smtp, host: 'https://localhost' } }), 'smtp.host'],
    ['port', ({ smtp }) => ({ smtp: { ...smtp, port: 65_536 } }), 'smtp.port'],
    ['security', ({ smtp }) => ({ smtp: { ...smtp, security: 'ssl' as 'tls' } }), 'smtp.security'],
    ['user', ({ smtp }) => ({ smtp: { ...smtp, login: { user: 'a\r\nb', password: 'x' } } }), 'smtp.user'],
    ['password', ({ smtp }) => ({ smtp: { ...smtp, login: { user: 'a', password: '' } } }), 'smtp.password'],
    [
      'token',
      ({ imap, smtp }) => ({ imap: { ...(imap ?? smtp), login: { user: 'a', accessToken: 'x\0' } } }),
      'imap.access_token',
    ],
    ['daily limit', () => ({ dailyLimit: 0 }), 'daily_limit'],
    ['spacing', () => ({ spacingSeconds: 1.5 }), 'spacing_seconds'],
  ])('an invalid %s is named in the error', async (_, change, path) => {
    const all = settings()
    await expect(set({ ...all, ...change(all) })).rejects.toMatchObject({
      status: 400,
      code: 'validation_error',
      details: [{ path }],
    })
  })

  test('cannot be set for an unknown identity, and no server is contacted', async () => {
    const before = bench.servers.smtp.connections
    const stranger = await createTestTenant(bench.service)
    const attempt = setEmailAccount(
      stranger.handle,
      bench.service.mail,
      TESTER,
      sender.identityId,
      settings(),
      bench.now(),
    )
    await expect(attempt).rejects.toMatchObject({ code: 'not_found' })
    expect(bench.servers.smtp.connections).toBe(before)
  })
})

test('unless private addresses are allowed, a mail server must have a public address, a mail port and TLS', async () => {
  const resolve = async (host: string) => [
    { address: host === 'inside.example.com' ? '10.0.0.1' : '192.0.2.1', family: 4 },
  ]
  const service = await startTestService({}, { outbound: { resolve } })
  try {
    const tenant = await createTestTenant(service)
    const made = await tenant.call('POST', '/v1/identities', { firstName: 'A', lastName: 'B', role: 'C' })
    const { identity_id } = made.body.identity
    const login = { user: 'ada', password: 'secret' }
    const attempt = (smtp: Partial<MailServer>, imap: MailServer | null = null, renewal: TokenRenewal | null = null) =>
      setEmailAccount(
        tenant.handle,
        service.mail,
        TESTER,
        identity_id,
        {
          address: 'ada@example.com',
          smtp: { host: 'mail.example.com', port: 587, security: 'starttls', login, ...smtp },
          imap,
          renewal,
        },
        new Date(),
      ).catch(({ code, details }) => ({ code, ...details.at(-1) }))
    for (const host of ['127.0.0.1', '::1', '169.254.169.254', 'localhost', 'db.internal', '[::1]', '0x7f.1', '']) {
      expect(await attempt({ host }), host).toMatchObject({ code: 'validation_error', path: 'smtp.host' })
    }
    expect(await attempt({ port: 5432 })).toEqual({
      code: 'validation_error',
      path: 'smtp.port',
      message: 'must be one of 25, 465, 587, 2525',
    })
    expect(await attempt({ security: 'none' })).toMatchObject({ code: 'validation_error', path: 'smtp.security' })
    expect(await attempt({ host: 'inside.example.com' })).toEqual({
      code: 'mail_login_failed',
      path: 'smtp',
      message: '10.0.0.1 is not a public internet address (private).',
    })
    const renewal = { refreshToken: 'refresh-token', clientId: 'c', clientSecret: null }
    const renewing = (tokenUrl: string) =>
      attempt({ login: { user: 'ada', accessToken: '' } }, null, { ...renewal, tokenUrl })
    expect(await renewing('https://127.0.0.1:8443/token')).toMatchObject({
      code: 'validation_error',
      path: 'token_url',
    })
    expect(await renewing('https://inside.example.com/token')).toEqual({
      code: 'mail_login_failed',
      path: 'smtp',
      message: 'OAuth2: the token endpoint cannot be used: 10.0.0.1 is not a public internet address (private).',
    })
    for (const [port, security] of [
      [993, 'tls'],
      [143, 'starttls'],
    ] as const) {
      expect(await attempt({}, { host: 'inside.example.com', port, security, login })).toEqual({
        code: 'mail_login_failed',
        path: 'imap',
        message: '10.0.0.1 is not a public internet address (private).',
      })
    }
  } finally {
    await service.close()
  }
})
