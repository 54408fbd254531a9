import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasDovecot, type Mailbox } from '../../test/dovecot.ts'
import { type MailBench, mailTo, settingsOf, startMailBench, TESTER } from '../../test/mail.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'
import { createTestTenant, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'
import { HOUR_MS } from '../platform/time.ts'
import { checkEmailAccount, describeEmailAccount, openEmailAccount, setEmailAccount } from './email-accounts.ts'
import type { EmailAccountSettings } from './email-settings.ts'
import { sendMail } from './mail/send.ts'

describe.skipIf(!hasDovecot)('an account whose access tokens are renewed', () => {
  const REFRESH = 'refresh/token+1'
  let bench: MailBench
  let endpoint: Receiver
  let tenant: TestTenant
  let mailbox: Mailbox
  let identityId: string
  let issued = 0

  beforeAll(async () => {
    bench = await startMailBench()
    endpoint = await startReceiver(bench.servers.certificate)
  })
  afterAll(async () => {
    await bench?.close()
    await endpoint?.close()
  })
  beforeEach(async () => {
    tenant = await createTestTenant(bench.service)
    ;({ identityId, mailbox } = await bench.addSender(tenant))
    endpoint.received.length = 0
    endpoint.respond = (response) => issue(response)
  })

  /** Issues the access token that the mail servers accept from now on, in place of the previous one. */
  function issue(response: ServerResponse, more: object = {}): void {
    mailbox.accessToken = `access-token-${++issued}`
    response.end(JSON.stringify({ access_token: mailbox.accessToken, expires_in: 3600, token_type: 'Bearer', ...more }))
  }
  const respond = (status: number, body: object) => {
    endpoint.respond = (response) => response.writeHead(status).end(JSON.stringify(body))
  }
  const renewal = () => ({
    refreshToken: REFRESH,
    clientId: 'our client',
    clientSecret: 'client-secret',
    tokenUrl: endpoint.url('/token', 'localhost'),
  })
  const set = (changed: Partial<EmailAccountSettings> = {}) => {
    const { smtp, imap, ...rest } = settingsOf(bench.servers, mailbox)
    const login = { user: mailbox.user, accessToken: '' }
    const servers = { smtp: { ...smtp, login }, imap: imap && { ...imap, login } }
    const wanted = { ...rest, ...servers, renewal: renewal(), spacingSeconds: 0, ...changed }
    return setEmailAccount(tenant.handle, bench.service.mail, TESTER, identityId, wanted, bench.now())
  }
  const send = async () => {
    const contact = await tenant.contact(`${newId()}@example.com`)
    return sendMail(tenant.handle, bench.service.mail, mailTo({ identityId }, contact, 'grace@example.com'))
  }
  const forms = () => endpoint.received.map(({ body }) => Object.fromEntries(new URLSearchParams(body.toString())))
  const described = () => describeEmailAccount(tenant.handle, identityId)
  const received = async () => (await tenant.call('GET', '/v1/mailboxes')).body.mailboxes[0]
  const watching = (since?: string | null) =>
    expect.poll(received).toSatisfy((mailbox) => {
      return mailbox?.state === 'watching' && mailbox.connected_at !== since
    })
  /** Sets the account and waits until its mailbox is read with the new settings. */
  const setAndRead = async () => {
    // Reading with the previous password must have started, so that its end can be detected.
    await watching()
    const before = (await received())?.connected_at
    await set()
    await watching(before)
  }

  const asked = { grant_type: 'refresh_token', client_id: 'our client', client_secret: 'client-secret' }

  test('gets its access tokens when it is saved and before one expires', async () => {
    // Without IMAP, because a mailbox reader would renew tokens as well.
    expect(await set({ imap: null })).toMatchObject({
      connected: true,
      smtp: { login: 'access_token' },
      renewal: { client_id: 'our client', token_url: renewal().tokenUrl },
    })
    expect(forms()).toEqual([{ ...asked, refresh_token: REFRESH }])
    await send()
    expect(forms()).toHaveLength(1)

    // The endpoint issues a new refresh token, which is used from then on.
    endpoint.respond = (response) => issue(response, { refresh_token: 'refresh-token-2', expires_in: '3600' })
    bench.pass(3_570_000)
    await send()
    expect(forms().slice(1)).toEqual([{ ...asked, refresh_token: REFRESH }])
    expect(bench.servers.smtp.accepted.at(-1)?.user).toBe(mailbox.user)
    bench.pass(3_570_000)
    await send()
    expect(forms().slice(2)).toEqual([{ ...asked, refresh_token: 'refresh-token-2' }])
  })

  test('is set through the API, with defaults for what is omitted, and keeps its tokens when it is set without a login', async () => {
    const { smtp } = settingsOf(bench.servers, mailbox)
    const path = `/v1/identities/${identityId}/email-account`
    const { refreshToken: refresh_token, tokenUrl: token_url, clientId: client_id } = renewal()
    const account = { address: mailbox.user, smtp: { host: smtp.host, port: smtp.port } }
    const set = await tenant.call('PUT', path, { ...account, refresh_token, token_url, client_id })
    expect(set).toMatchObject({
      status: 200,
      body: {
        email_account: {
          smtp: { security: 'starttls', user: mailbox.user, login: 'access_token' },
          imap: null,
          renewal: { client_id, token_url },
          daily_limit: 100,
          spacing_seconds: 60,
        },
      },
    })
    const again = await tenant.call('PUT', path, { ...account, daily_limit: 3 })
    expect(again.body.email_account).toMatchObject({ daily_limit: 3, renewal: { client_id, token_url } })
    const elsewhere = await tenant.call('PUT', path, { ...account, smtp: { host: 'other.example' } })
    expect(elsewhere).toMatchObject({ status: 400, body: { error: { details: [{ path: 'password' }] } } })
    // The second login used the access token of the first.
    expect(forms().map((form) => form.refresh_token)).toEqual([REFRESH])
    expect(JSON.stringify([set.body, again.body])).not.toContain(REFRESH)
    const secret = { client_secret: 'client-secret' }
    const withSecret = await tenant.call('PUT', path, { ...account, refresh_token, token_url, client_id, ...secret })
    expect([withSecret.status, forms().at(-1)]).toEqual([200, { ...asked, refresh_token: REFRESH }])
    const withToken = await tenant.call('PUT', path, { ...account, access_token: mailbox.accessToken })
    expect(withToken).toMatchObject({ status: 200, body: { email_account: { smtp: { login: 'access_token' } } } })
    expect(withToken.body.email_account.renewal ?? null).toBeNull()
  })

  test('gets a new token when servers reject the current one, and continues reading', async () => {
    await setAndRead()
    const connected_at = (await received())?.connected_at
    mailbox.accessToken = 'ended before its time'
    const checked = checkEmailAccount(tenant.handle, bench.service.mail, identityId, bench.now())
    expect(await checked).toMatchObject({ connected: true, error: null })
    // Both servers rejected the token, and one renewal served both.
    expect(forms().slice(1)).toEqual([{ ...asked, refresh_token: REFRESH }])
    // A new token does not change the settings, so the connection that reads the mailbox stays open.
    expect(await received()).toMatchObject({ state: 'watching', connected_at })
  })

  test('reports a revoked refresh token without secrets, asks no further until it is checked, and recovers then', async () => {
    await setAndRead()
    const before = mailbox.accessToken
    bench.pass(HOUR_MS)
    const description = `${REFRESH} (${encodeURIComponent(REFRESH)}) of client-secret is revoked\r\n`
    respond(400, { error: 'invalid_grant', error_description: description })
    const problem =
      'OAuth2: the token endpoint responded with status 400: invalid_grant [secret] ([secret]) of [secret] is revoked'
    await expect(send()).rejects.toMatchObject({
      code: 'mail_unavailable',
      message: expect.stringContaining(problem),
    })
    expect(await described()).toMatchObject({ connected: false, error: problem, needs_sign_in: true })
    const asked = endpoint.received.length
    await expect(send()).rejects.toMatchObject({ message: expect.stringContaining(problem) })
    expect(endpoint.received).toHaveLength(asked)
    const check = () => checkEmailAccount(tenant.handle, bench.service.mail, identityId, bench.now())
    expect(await check()).toMatchObject({ connected: false, error: problem })
    // Restarts the reader.
    await tenant.handle.db.updateTable('email_accounts').set({ updated_at: bench.now() }).execute()
    await expect.poll(async () => (await received())?.error).toBe(problem)
    const { next_attempt_at } = (await received()) ?? {}
    // The delay after a rejected login, not the one after a broken connection.
    expect(Date.parse(next_attempt_at ?? '')).toBeGreaterThan(Date.now() + 30_000)

    endpoint.respond = (response) => issue(response)
    await expect(send()).rejects.toMatchObject({ message: expect.stringContaining(problem) })
    expect(await check()).toMatchObject({ connected: true, error: null, needs_sign_in: false })
    await send()
    await watching()
    const rows = [
      await tenant.handle.db.selectFrom('email_accounts').selectAll().execute(),
      await tenant.handle.db.selectFrom('audit_log').selectAll().execute(),
      await tenant.handle.db.selectFrom('mailboxes').selectAll().execute(),
    ]
    const everything = JSON.stringify([rows, bench.service.logged])
    for (const secret of [REFRESH, 'client-secret', before, mailbox.accessToken]) {
      for (const form of [secret, encodeURIComponent(secret)]) expect(everything).not.toContain(form)
    }
  })

  test('an unavailable endpoint, an invalid response and a refusal are distinguished', async () => {
    // Without IMAP, because a mailbox reader would call the endpoint as well, even during later tests.
    await set({ imap: null })
    bench.pass(HOUR_MS)
    respond(503, { error: 'temporarily_unavailable' })
    await expect(send()).rejects.toMatchObject({
      code: 'mail_unavailable',
      message: expect.stringContaining('OAuth2: the token endpoint responded with status 503: temporarily_unavailable'),
    })
    endpoint.respond = (response) => response.socket?.destroy()
    await expect(send()).rejects.toMatchObject({
      message: expect.stringContaining('OAuth2: the token endpoint cannot be reached: '),
    })
    expect(await described()).toMatchObject({ connected: true, error: null })
    for (const nonsense of ['<html>', '[]', '{"access_token":"a\\r\\nb"}', '{"access_token":7}', '']) {
      endpoint.respond = (response) => response.end(nonsense)
      await expect(send()).rejects.toMatchObject({
        message: expect.stringMatching(/OAuth2: the token endpoint responded with status 200$/),
      })
    }
    expect(await described()).toMatchObject({ connected: false })
    // A redirect would send the secrets elsewhere.
    endpoint.respond = (response) => response.writeHead(302, { location: endpoint.url('/else', 'localhost') }).end()
    await expect(send()).rejects.toMatchObject({ message: expect.stringContaining('responded with status 302') })
    expect(endpoint.received.map(({ path }) => path)).not.toContain('/else')
  })

  test('is not stored with invalid settings, and each invalid field is named', async () => {
    respond(401, { error: 'invalid_client' })
    await expect(set()).rejects.toMatchObject({
      code: 'mail_login_failed',
      message: 'The login failed. OAuth2: the token endpoint responded with status 401: invalid_client',
    })
    expect(await described()).toMatchObject({ renewal: null })
    const wrong: [Partial<ReturnType<typeof renewal>>, string][] = [
      [{ tokenUrl: 'http://localhost/token' }, 'token_url'],
      [{ tokenUrl: 'token' }, 'token_url'],
      [{ refreshToken: 'a\0b' }, 'refresh_token'],
      [{ refreshToken: 'x'.repeat(8_193) }, 'refresh_token'],
      [{ clientId: '' }, 'client_id'],
      [{ clientSecret: 'a\nb' }, 'client_secret'],
    ]
    for (const [change, path] of wrong) {
      await expect(set({ renewal: { ...renewal(), ...change } })).rejects.toMatchObject({
        code: 'validation_error',
        details: [{ path }],
      })
    }
    const { smtp } = settingsOf(bench.servers, mailbox)
    await expect(set({ smtp })).rejects.toMatchObject({ details: [{ path: 'smtp.password' }] })
  })

  test('keeps the tokens of its previous settings separate from the new ones', async () => {
    // Without IMAP, because a mailbox reader would renew its token, which invalidates those of the test.
    await set({ imap: null })
    const opened = await openEmailAccount(tenant.handle, bench.service.mail, identityId)
    if (!opened || 'password' in opened.smtp.login) throw new Error('it has tokens')
    bench.pass(1_000)
    await set({ imap: null, renewal: { ...renewal(), refreshToken: 'refresh-token-3' } })
    const before = mailbox.accessToken
    const renewed = await opened.smtp.login.tokens?.renew(opened.smtp.login.accessToken)
    expect(renewed).toBe(mailbox.accessToken)
    expect(renewed).not.toBe(before)
    const now = await openEmailAccount(tenant.handle, bench.service.mail, identityId)
    expect(now?.renewal).toMatchObject({ refreshToken: 'refresh-token-3' })
    expect(now?.smtp.login).toMatchObject({ accessToken: before })
  })
})
