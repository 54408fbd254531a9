import { createHmac, randomBytes } from 'node:crypto'
import { rememberNetwork } from '../src/access/networks.ts'
import { hashPassword } from '../src/access/passwords.ts'
import { SESSION_SECONDS, sessionCookieName, tenantOfNewSession } from '../src/access/sessions.ts'
import { signInSecret } from '../src/access/sign-in/start.ts'
import { createVerifiedUser, insertMember } from '../src/access/users.ts'
import type { Role } from '../src/operations/roles.ts'
import { newId } from '../src/platform/ids.ts'
import type { Stores } from '../src/platform/tenant.ts'
import { call, type TestResponse, type TestService } from './service.ts'

/** The URL for people: CDS_PUBLIC_URL, or the address that the service listens on. */
function publicUrlOf({ url, config }: Pick<TestService, 'url'> & Partial<Pick<TestService, 'config'>>): URL {
  const publicUrl = new URL(config?.publicUrl ?? url)
  return publicUrl.port === '0' ? new URL(url) : publicUrl
}

export const PASSWORD = 'correct horse battery'

/** Stores cookies like a browser, and sends the same headers as the dashboard. */
export class Browser {
  readonly cookies = new Map<string, string>()
  readonly #service: { url: string }
  readonly #publicUrl: URL

  constructor(service: Pick<TestService, 'url'> & Partial<Pick<TestService, 'config'>>) {
    this.#service = service
    this.#publicUrl = publicUrlOf(service)
  }

  /** Proves to the service that the request is from one of its own pages. */
  get ownSite(): Record<string, string> {
    return { origin: this.#publicUrl.origin, 'x-requested-by': 'dashboard' }
  }

  /** The Host header of a browser at a URL other than the service's address. */
  get #host(): Record<string, string> {
    const { host } = this.#publicUrl
    return host === new URL(this.#service.url).host ? {} : { host }
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  /** Calls the service; a body is sent as JSON. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = this.ownSite,
  ): Promise<TestResponse> {
    const response = await call(this.#service, method, path, {
      headers: { ...this.#host, ...headers, ...(this.cookies.size > 0 ? { cookie: this.cookie } : {}) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    this.storeCookies(response.headers)
    return response
  }

  storeCookies(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
      const at = pair.indexOf('=')
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
      if (value === '' || attributes.some((attribute) => attribute.toLowerCase() === 'max-age=0'))
        this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
  }

  /** @throws Error if the sign-in fails. */
  async signIn(email: string, password = PASSWORD): Promise<this> {
    const { status, body } = await this.call('POST', '/api/auth/sign-in/email', { email, password })
    if (status !== 200) throw new Error(JSON.stringify(body))
    return this
  }
}

let passwordHash: Promise<string> | undefined

/**
 * A person with a role in a tenant and PASSWORD, which is hashed once: hashing takes a tenth of a second. The tenant's
 * audit log stays empty. @returns the user id.
 */
export async function createPerson(
  stores: Stores,
  tenantId: string,
  { role, ...person }: { email: string; name: string; role: Role },
): Promise<string> {
  const now = new Date()
  const userId = await stores.database.transaction().execute(async (database) => {
    const id = await createVerifiedUser({ ...stores, database }, { ...person, password: null }, now)
    await insertMember(database, tenantId, { userId: id, role }, now)
    return id
  })
  passwordHash ??= hashPassword(PASSWORD)
  const account = { id: newId(), user_id: userId, provider_id: 'credential', account_id: userId }
  const times = { created_at: now, updated_at: now }
  await stores.database
    .insertInto('user_accounts')
    .values({ ...account, password: await passwordHash, ...times })
    .execute()
  return userId
}

/**
 * Starts a session as a sign-in from this machine does, but without the password, which would be hashed twice: half a
 * second of processor time. @returns the session's cookie.
 */
export async function startSession(service: TestService, userId: string): Promise<{ name: string; value: string }> {
  const { config, stores, secrets, clock } = service
  const now = clock()
  const token = randomBytes(24).toString('base64url')
  await stores.database
    .insertInto('user_sessions')
    .values({
      id: newId(),
      user_id: userId,
      token,
      active_tenant_id: await tenantOfNewSession(stores.database, userId),
      expires_at: new Date(now.getTime() + SESSION_SECONDS * 1_000),
      created_at: now,
      updated_at: now,
    })
    .execute()
  await rememberNetwork(stores.database, userId, '127.0.0.1', now)
  const secret = await signInSecret(config, stores, secrets, clock)()
  const signature = createHmac('sha256', secret).update(token).digest('base64')
  return { name: sessionCookieName(config.publicUrl), value: encodeURIComponent(`${token}.${signature}`) }
}

let people = 0

/** A person with a role in a tenant, signed in by `startSession`. A test of the sign-in itself calls `signIn`. */
export async function signedIn(
  service: TestService,
  tenantId: string,
  role: Role,
): Promise<Browser & { email: string; userId: string }> {
  const email = `${role}${++people}@example.com`
  const userId = await createPerson(service.stores, tenantId, { email, role, name: `The ${role}` })
  const browser = new Browser(service)
  const { name, value } = await startSession(service, userId)
  browser.cookies.set(name, value)
  return Object.assign(browser, { email, userId })
}
