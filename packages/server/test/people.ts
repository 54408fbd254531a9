import { newId } from '../src/platform/ids.ts'
import type { Database } from '../src/platform/postgres/database.ts'
import { hashPassword } from '../src/tenants/passwords.ts'
import type { Role } from '../src/tenants/roles.ts'
import { createTenantUser } from '../src/tenants/users.ts'
import { type Answer, call, type TestService } from './service.ts'

export const PASSWORD = 'correct horse battery'

/** Keeps cookies as a browser would, and sends what the dashboard's pages send. */
export class Browser {
  readonly cookies = new Map<string, string>()
  readonly #service: { url: string }

  constructor(service: { url: string }) {
    this.#service = service
  }

  /** What proves to the service that a page of its own sends the request. */
  get ownSite(): Record<string, string> {
    return { origin: this.#service.url, 'x-requested-by': 'dashboard' }
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
  ): Promise<Answer> {
    const answer = await call(this.#service, method, path, {
      headers: { ...headers, ...(this.cookies.size > 0 ? { cookie: this.cookie } : {}) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    this.take(answer.headers)
    return answer
  }

  take(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
      const at = pair.indexOf('=')
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
      if (value === '' || attributes.some((attribute) => attribute.toLowerCase() === 'max-age=0'))
        this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
  }

  /** @throws Error when the sign-in is refused. */
  async signIn(email: string, password = PASSWORD): Promise<this> {
    const { status, body } = await this.call('POST', '/api/auth/sign-in/email', { email, password })
    if (status !== 200) throw new Error(JSON.stringify(body))
    return this
  }
}

let passwordHash: Promise<string> | undefined

/** A person with a role in a tenant and PASSWORD, which is hashed once: hashing takes a tenth of a second. @returns the user id. */
export async function createPerson(
  database: Database,
  tenantId: string,
  person: { email: string; name: string; role: Role },
): Promise<string> {
  const now = new Date()
  const userId = await createTenantUser(database, tenantId, { ...person, password: null }, now)
  passwordHash ??= hashPassword(PASSWORD)
  const account = { id: newId(), user_id: userId, provider_id: 'credential', account_id: userId }
  const times = { created_at: now, updated_at: now }
  await database
    .insertInto('user_accounts')
    .values({ ...account, password: await passwordHash, ...times })
    .execute()
  return userId
}

let people = 0

/** A person with a role in a tenant, signed in. */
export async function signedIn(
  service: TestService,
  tenantId: string,
  role: Role,
): Promise<Browser & { email: string; userId: string }> {
  const email = `${role}${++people}@example.com`
  const userId = await createPerson(service.stores.database, tenantId, { email, role, name: `The ${role}` })
  const browser = await new Browser(service).signIn(email)
  return Object.assign(browser, { email, userId })
}
