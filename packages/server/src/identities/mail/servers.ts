import type { Socket } from 'node:net'
import type { ImapFlow, ImapFlowOptions } from 'imapflow'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { Connector } from '../../platform/outbound/connect.ts'
import { MINUTE_MS } from '../../platform/time.ts'
import type { MailLogin, MailServer } from '../email-account.ts'

const GREETING_MS_MAX = 10_000
const IDLE_MS_MAX = MINUTE_MS
/** The idle timeout does not stop a server that keeps sending partial replies, so the login has its own limit. */
const LOGIN_MS_MAX = 30_000
const TOO_SLOW = `the server did not complete the login within ${LOGIN_MS_MAX / 1000} seconds`

/**
 * Logs in at an SMTP server. Callers must close the connection.
 * @throws the client's error; `serverError` describes it.
 */
export function openSmtp(connector: Connector, server: MailServer): Promise<SMTPConnection> {
  return withToken(server.login, (login) => connectSmtp(connector, { ...server, login }))
}

/** Logs in with a current token. If the server rejects it, renews the token and tries once more. */
async function withToken<T>(login: MailLogin, open: (login: MailLogin) => Promise<T>): Promise<T> {
  if ('password' in login || !login.tokens) return open(login)
  const { user, tokens } = login
  const accessToken = await tokens.current()
  try {
    return await open({ user, accessToken })
  } catch (error) {
    const { code, authenticationFailed } = error as { code?: string; authenticationFailed?: boolean }
    if (code !== 'EAUTH' && authenticationFailed !== true) throw error
    return open({ user, accessToken: await tokens.renew(accessToken) })
  }
}

async function connectSmtp(connector: Connector, { host, port, security, login }: MailServer): Promise<SMTPConnection> {
  // Imported on demand: services that send no mail do not load it.
  const { default: Connection } = await import('nodemailer/lib/smtp-connection')
  const socket: Socket = await connector.connect(host, port)
  const connection = new Connection({
    host,
    port,
    connection: socket,
    secure: security === 'tls',
    ...(security === 'starttls' ? { requireTLS: true } : {}),
    ...(security === 'none' ? { ignoreTLS: true } : {}),
    greetingTimeout: GREETING_MS_MAX,
    socketTimeout: IDLE_MS_MAX,
    logger: false,
    tls: connector.ca === undefined ? {} : { ca: connector.ca },
  })
  const timer = setTimeout(() => socket.destroy(new Error(TOO_SLOW)), LOGIN_MS_MAX)
  // Pending calls get their errors from their callbacks. Without this listener, an error between calls would end the process.
  connection.on('error', () => {})
  try {
    await new Promise<void>((resolve, reject) => {
      connection.once('error', reject)
      connection.connect((error) => (error ? reject(error) : resolve()))
    })
    const credentials =
      'password' in login
        ? { user: login.user, pass: login.password }
        : { user: login.user, method: 'XOAUTH2', oauth2: accessTokenOf(login.user, login.accessToken) }
    await new Promise<void>((resolve, reject) => {
      connection.once('error', reject)
      connection.login(credentials as Parameters<SMTPConnection['login']>[0], (error) =>
        error ? reject(error) : resolve(),
      )
    })
    return connection
  } catch (error) {
    connection.close()
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Provides the SMTP client with the access token. The client may not renew it; `withToken` does. */
function accessTokenOf(user: string, accessToken: string) {
  const buildXOAuth2Token = (token: string) =>
    Buffer.from(`user=${user}\u0001auth=Bearer ${token}\u0001\u0001`).toString('base64')
  return {
    getToken: (renew: boolean, done: (error: Error | null, token?: string) => void) =>
      renew ? done(new Error('The access token was rejected.')) : done(null, accessToken),
    buildXOAuth2Token,
  }
}

/**
 * Logs in at an IMAP server. Callers must log out or close the connection.
 * @param options for long-lived connections: IDLE, QRESYNC …
 * @throws the client's error; `serverError` describes it.
 */
export function openImap(connector: Connector, server: MailServer, options: ImapOptions = {}): Promise<ImapFlow> {
  return withToken(server.login, (login) => connectImap(connector, { ...server, login }, options))
}

type ImapOptions = Omit<ImapFlowOptions, 'host' | 'port' | 'auth' | 'secure' | 'doSTARTTLS' | 'tls' | 'logger'>

async function connectImap(
  connector: Connector,
  { host, port, security, login }: MailServer,
  options: ImapOptions,
): Promise<ImapFlow> {
  const { ImapFlow } = await import('imapflow')
  const client = new ImapFlow({
    disableAutoIdle: true,
    connectionTimeout: GREETING_MS_MAX,
    greetingTimeout: GREETING_MS_MAX,
    socketTimeout: IDLE_MS_MAX,
    ...options,
    host,
    port,
    secure: security === 'tls',
    ...(security === 'tls' ? {} : { doSTARTTLS: security === 'starttls' }),
    auth:
      'password' in login
        ? { user: login.user, pass: login.password }
        : { user: login.user, accessToken: login.accessToken },
    // ImapFlow passes these to plain sockets too.
    tls: { ...connector.guard(host), ...(connector.ca === undefined ? {} : { ca: connector.ca }) },
    logger: false,
  })
  // A broken connection fails the next command. Without this listener, its error would end the process.
  client.on('error', () => {})
  let isTooSlow = false
  const timer = setTimeout(() => {
    isTooSlow = true
    client.close()
  }, LOGIN_MS_MAX)
  try {
    await client.connect()
    return client
  } catch (error) {
    client.close()
    throw isTooSlow ? new Error(TOO_SLOW, { cause: error }) : error
  } finally {
    clearTimeout(timer)
  }
}
