import type { FastifyReply, FastifyRequest } from 'fastify'
import { normalizeEmail } from '../../platform/email.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { RateLimiter } from '../../platform/http/rate-limits.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { accountsOpenedBy, startNextSessionIn, tenantsOf } from '../accounts.ts'
import { accountsIn, rememberNetwork } from '../networks.ts'
import { type ForwardDependencies, forward } from './forward.ts'

export interface SignInDependencies extends ForwardDependencies {
  stores: Stores
  rateLimiter: RateLimiter
  clock: Clock
}

/**
 * Limits attempts per IP address and, if the person is known, per person: strictly from one IP address, and loosely from
 * all networks where the person has never signed in. So nobody can guess without limit or lock out others. A network is
 * known per account, not per email address.
 * @returns the accounts that may be tried; null for all. @throws ServiceError 429 `rate_limited`.
 */
export async function limitSignIn(
  { stores, rateLimiter }: SignInDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  person: { id: string } | { email: string } | undefined = request.signedIn?.user,
): Promise<ReadonlySet<string> | null> {
  rateLimiter.checkSignIn(request.ip, reply)
  if (person === undefined) return null
  const accounts = await accountsIn(stores.database, person, request.ip)
  const known = accounts.filter(({ isKnown }) => isKnown).map(({ id }) => id)
  const knownBy = known.length === 0 ? 'none' : known.length === accounts.length ? 'all' : 'some'
  const mayTryAll = rateLimiter.checkSignInOf('id' in person ? person.id : person.email, request.ip, knownBy, reply)
  return mayTryAll ? null : new Set(known)
}

interface Attempt {
  email: string
  password: string
  rememberMe?: boolean
  /** The tenant that the person chose, if their password opens several accounts. */
  tenant_id?: string
}

/**
 * Signs a person in by password; with a second factor, the code is still required. If the password opens several
 * accounts, the response lists their tenants for the person to choose from.
 * @param only the accounts that may be tried; null for all. @throws ServiceError 401 `invalid_email_or_password`.
 */
export async function signInWithPassword(
  dependencies: SignInDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { email: text, password, rememberMe = true, tenant_id: tenantId }: Attempt,
  only: ReadonlySet<string> | null = null,
): Promise<Record<string, unknown>> {
  const { database } = dependencies.stores
  const email = normalizeEmail(text)
  const opened = await accountsOpenedBy(database, { email, password }, only)
  const tenants = await tenantsOf(database, opened)
  const wanted = tenantId === undefined ? tenants : tenants.filter((tenant) => tenant.tenant_id === tenantId)
  const accounts = new Set(wanted.map(({ accountId }) => accountId))
  if (tenantId === undefined && accounts.size > 1) {
    return { tenants: tenants.map(({ tenant_id, name }) => ({ tenant_id, name })) }
  }
  const isAnywhere = tenantId === undefined && accounts.size === 0
  const account = opened.find(({ id }) => isAnywhere || accounts.has(id))
  if (!account) throw new ServiceError(401, 'invalid_email_or_password', 'Invalid email or password')
  if (tenantId !== undefined) await startNextSessionIn(database, account, tenantId, dependencies.clock())
  const body = { email: account.signInEmail, password, rememberMe }
  const result = await forward(dependencies, request, reply, { method: 'POST', path: '/sign-in/email', body })
  await rememberWhere(dependencies, request, result)
  return result
}

/** Records the network of the person whom the library has just signed in. */
export async function rememberWhere(
  { stores, clock }: SignInDependencies,
  { ip }: FastifyRequest,
  { user_id: id }: Record<string, unknown>,
): Promise<void> {
  if (typeof id === 'string') await rememberNetwork(stores.database, id, ip, clock())
}
