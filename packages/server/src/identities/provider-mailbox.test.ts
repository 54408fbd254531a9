import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasDovecot, type Mailbox } from '../../test/dovecot.ts'
import { type MailBench, mailTo, startMailBench } from '../../test/mail.ts'
import { plainMail } from '../../test/mails.ts'
import { type OAuthProvider, signInAt, startOAuthProvider } from '../../test/oauth-provider.ts'
import { type Browser, signedIn } from '../../test/people.ts'
import { freePort } from '../../test/ports.ts'
import { createTestTenant, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'
import { HOUR_MS } from '../platform/time.ts'
import { sendMail } from './mail/send.ts'

const ORGANIZATION = 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0'

describe.skipIf(!hasDovecot)('a mailbox that is connected by signing in at its provider', () => {
  const providers = {} as Record<'google' | 'microsoft', OAuthProvider>
  let bench: MailBench
  let tenant: TestTenant
  let admin: Browser
  let identityId: string
  let mailbox: Mailbox
  let mailboxes = 0

  beforeAll(async () => {
    const port = String(await freePort())
    const common = {
      usesPkce: true,
      authentication: 'form',
      redirectUri: `http://127.0.0.1:${port}/authorized`,
    } as const
    providers.google = await startOAuthProvider({ issuer: 'https://accounts.google.com', ...common })
    providers.google.iss = 'https://accounts.google.com'
    providers.microsoft = await startOAuthProvider({ issuer: ORGANIZATION, ...common })
    const urls = { google: providers.google.url, microsoft: providers.microsoft.url }
    bench = await startMailBench({ PORT: port, CDS_PUBLIC_URL: `http://127.0.0.1:${port}` }, urls)
  })
  afterAll(async () => {
    await bench?.close()
    await Promise.all(Object.values(providers).map((provider) => provider.close()))
  })
  beforeEach(async () => {
    tenant = await createTestTenant(bench.service)
    admin = await signedIn(bench.service, tenant.id, 'admin')
    const named = { firstName: 'Ada', lastName: 'Lovelace', role: 'Sales' }
    identityId = (await tenant.call('POST', '/v1/identities', named)).body.identity.identity_id
    mailbox = await bench.servers.addMailbox(`ada${++mailboxes}@mail.example`)
    for (const [name, provider] of Object.entries(providers)) {
      const { client } = provider
      await tenant.call('PUT', `/v1/oauth-clients/${name}`, { client_id: client.id, client_secret: client.secret })
      Object.assign(provider, { now: bench.now, allowed: null, more: {} })
      provider.account = { email: mailbox.user, claims: { email_verified: true } }
      provider.forms.length = 0
      // The mail servers accept the provider's newest token of the mailbox.
      provider.onIssued = (email, token) => {
        if (email === mailbox.user) mailbox.accessToken = token
      }
    }
    providers.microsoft.account.claims = { preferred_username: mailbox.user, email: 'anything@evil.example' }
  })

  const path = () => `/v1/identities/${identityId}`
  const start = async (provider: string) => {
    const purpose = { kind: 'mailbox', identity_id: identityId }
    return (await admin.call('POST', '/v1/authorizations', { provider, purpose })).body.authorization_url
  }
  const signIn = async (provider: string) =>
    admin.call('POST', '/v1/authorizations/complete', await signInAt(await start(provider)))
  const account = async () => (await tenant.call('GET', `${path()}/connections`)).body.connections.email_account
  const received = async () => (await tenant.call('GET', '/v1/mailboxes')).body.mailboxes[0]
  const reads = () => expect.poll(async () => (await received())?.state).toBe('watching')
  /** Of the mails with a contact that were read. */
  const mailsWith = (contactId: string) =>
    expect.poll(
      async () => {
        const { body } = await tenant.call('GET', `/v1/contacts/${contactId}/conversations?include_messages=true`)
        const messages: { message_id: string }[] = body.conversations.flatMap(
          (thread: { messages: object[] }) => thread.messages,
        )
        return messages.map(({ message_id }) => message_id).sort()
      },
      { timeout: 20_000 },
    )
  const send = async () => {
    const contact = await tenant.contact(`${newId()}@example.com`)
    return sendMail(tenant.handle, bench.service.mail, mailTo({ identityId }, contact, 'grace@example.com'))
  }

  test.each(['google', 'microsoft'] as const)(
    '%s: mail is sent and read with its tokens, which are renewed',
    async (name) => {
      const url = new URL(await start(name))
      const scopes = url.searchParams.get('scope')?.split(' ')
      expect(scopes).toEqual(
        name === 'google'
          ? ['openid', 'email', 'https://mail.google.com/']
          : [
              'openid',
              'profile',
              'email',
              'offline_access',
              'https://outlook.office.com/IMAP.AccessAsUser.All',
              'https://outlook.office.com/SMTP.Send',
            ],
      )
      if (name === 'google')
        expect(Object.fromEntries(url.searchParams)).toMatchObject({ access_type: 'offline', prompt: 'consent' })
      const ada = await tenant.contact('ada@example.com')
      await bench.servers.imap.deliver(mailbox, plainMail('first@example.com'))
      const completed = await signIn(name)
      expect([completed.status, completed.body.path]).toEqual([200, `/identities/${identityId}`])
      expect(await account()).toMatchObject({
        address: mailbox.user,
        connected: true,
        needs_sign_in: false,
        smtp: { host: 'localhost', user: mailbox.user, login: 'access_token' },
        imap: { user: mailbox.user, login: 'access_token' },
        renewal: { provider: name, client_id: providers[name].client.id },
      })
      await reads()
      await mailsWith(ada).toEqual(['first@example.com'])
      const sent = bench.servers.smtp.accepted.length
      await send()
      // Renewed a minute before the end: another refresh token each time.
      bench.pass(HOUR_MS)
      await send()
      bench.pass(HOUR_MS)
      await send()
      expect(bench.servers.smtp.accepted.slice(sent).map(({ user }) => user)).toEqual(Array(3).fill(mailbox.user))
      const renewals = providers[name].forms.filter((form) => form.get('grant_type') === 'refresh_token')
      expect(new Set(renewals.map((form) => form.get('refresh_token'))).size).toBe(renewals.length)
      expect(renewals.length).toBeGreaterThanOrEqual(2)
      await bench.servers.imap.deliver(mailbox, plainMail('second@example.com'))
      await mailsWith(ada).toEqual(['first@example.com', 'second@example.com'])
    },
  )

  test.each(['google', 'microsoft'] as const)(
    '%s: a revoked access asks for another sign-in, which keeps the limits and names the account',
    async (name) => {
      expect((await signIn(name)).status).toBe(200)
      const { address, smtp, imap } = await account()
      const limits = { daily_limit: 7, spacing_seconds: 1 }
      const server = ({ host, port, security, user }: typeof smtp) => ({ host, port, security, user })
      const settings = { address, smtp: server(smtp), imap: server(imap), ...limits }
      expect((await tenant.call('PUT', `${path()}/email-account`, settings)).body.email_account).toMatchObject(limits)
      await reads()
      providers[name].revokeAll()
      bench.pass(HOUR_MS)
      await expect(send()).rejects.toMatchObject({ code: 'mail_unavailable' })
      expect(await account()).toMatchObject({
        connected: false,
        needs_sign_in: true,
        error: expect.stringContaining('invalid_grant'),
      })
      // The reader ends too, with the reason, and nobody asks the provider again.
      await expect.poll(async () => (await received())?.error).toContain('invalid_grant')
      const asked = providers[name].forms.length
      await expect(send()).rejects.toMatchObject({ code: 'mail_unavailable' })
      expect(providers[name].forms).toHaveLength(asked)

      expect(new URL(await start(name)).searchParams.get('login_hint')).toBe(mailbox.user)
      expect((await signIn(name)).status).toBe(200)
      expect(await account()).toMatchObject({ connected: true, needs_sign_in: false, error: null, ...limits })
      await reads()
      bench.pass(2_000)
      await send()
    },
  )

  test('a client whose secret was replaced goes on; without a client the account says so, and recovers', async () => {
    await signIn('google')
    const { client } = providers.google
    const secret = client.secret
    try {
      client.secret = 'the next secret'.replaceAll(' ', '-')
      await tenant.call('PUT', '/v1/oauth-clients/google', { client_id: client.id, client_secret: client.secret })
      bench.pass(HOUR_MS)
      await send()
      await tenant.call('DELETE', '/v1/oauth-clients/google')
      bench.pass(HOUR_MS)
      await expect(send()).rejects.toMatchObject({
        message: expect.stringContaining('No OAuth client for Google is stored'),
      })
      expect(await account()).toMatchObject({ connected: false, needs_sign_in: false })
      await tenant.call('PUT', '/v1/oauth-clients/google', { client_id: client.id, client_secret: client.secret })
      await send()
      expect(await account()).toMatchObject({ connected: true, error: null })
    } finally {
      client.secret = secret
    }
  })

  test('an address that the provider does not vouch for, and less access than needed, connect nothing', async () => {
    const refusals: [name: 'google' | 'microsoft', claims: Record<string, unknown>, allowed: string[] | null][] = [
      ['google', { email_verified: false }, null],
      ['google', { email_verified: 'true' }, null],
      ['google', {}, null],
      ['google', { email_verified: true, email: 'not an address' }, null],
      ['google', { email_verified: true }, ['openid', 'email']],
      ['microsoft', { preferred_username: 'none', email: undefined }, null],
      ['microsoft', { preferred_username: mailbox.user }, ['https://outlook.office.com/IMAP.AccessAsUser.All']],
    ]
    for (const [name, claims, allowed] of refusals) {
      Object.assign(providers[name], { allowed })
      providers[name].account.claims = claims
      const { status, body } = await signIn(name)
      expect([name, claims, status, body.error.code]).toEqual([name, claims, 400, 'authorization_failed'])
    }
    providers.google.allowed = null
    // A verified address of another mailbox: its servers refuse the token.
    providers.google.account.claims = { email: 'root@mail.example', email_verified: true }
    const other = await signIn('google')
    expect([other.status, other.body.error.code]).toEqual([400, 'mail_login_failed'])
    expect(await account()).toBeNull()
  })

  test('no code, state, token or secret is in a response, the log or the database', async () => {
    const url = await start('google')
    const redirected = await signInAt(url)
    const page = await fetch(`${bench.service.url}/authorized?${new URLSearchParams(redirected)}`, {
      headers: { accept: 'text/html' },
    })
    expect(page.status).toBe(200)
    const completed = await admin.call('POST', '/v1/authorizations/complete', redirected)
    expect(completed.status).toBe(200)
    bench.pass(HOUR_MS)
    await send()
    providers.google.revokeAll()
    bench.pass(HOUR_MS)
    await send().catch(() => {})
    const { db } = tenant.handle
    const rows = [
      await db.selectFrom('email_accounts').selectAll().execute(),
      await db.selectFrom('authorizations').selectAll().execute(),
      await db.selectFrom('provider_clients').selectAll().execute(),
      await db.selectFrom('audit_log').selectAll().execute(),
      await db.selectFrom('mailboxes').selectAll().execute(),
    ]
    const everything = JSON.stringify([rows, completed.body, await account(), bench.service.logged])
    const secrets = [...providers.google.issued, providers.google.client.secret, redirected.state ?? '']
    for (const secret of secrets) {
      for (const form of [secret, encodeURIComponent(secret)]) expect(everything).not.toContain(form)
    }
  })
})
