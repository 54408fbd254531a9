import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RateLimits } from '../../config.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../time.ts'
import { HOST, networkOf } from './networks.ts'
import { createWindows, type Usage, type Windows } from './windows.ts'

/** What a limit by address needs to know of a request. */
export interface Sender extends Pick<FastifyRequest, 'ip' | 'method' | 'headers'> {
  /**
   * The verified domain whose page sent the request. Each has a count of its own, so that pages of other sites cannot use it
   * up. Requests from unverified domains share one count: otherwise an invented domain would start a new one.
   */
  verifiedHost?: string | null
}

/** A secret that a stranger may guess. Each kind has a limit of its own, so that guessing one refuses no other. */
export type Guessable = 'API key' | 'write key' | 'hook token' | 'shared link' | 'code or token'

/** Counts requests of this process and rejects those over a limit; the standard headers report the limits. */
export interface RateLimiter {
  /** @throws ServiceError 429 `rate_limited`. */
  checkApiKey(keyId: string, reply: FastifyReply): void
  /**
   * Rejects an address that has sent too many invalid secrets of this kind. @throws ServiceError 429 `rate_limited`.
   */
  checkInvalid(kind: Guessable, sender: Sender): void
  countInvalid(kind: Guessable, sender: Sender): void
  /**
   * Counts what needs no scope for writing, but adds an entry to the audit log, which is kept forever: downloads of records,
   * changes of one's own connected applications, tests and resumptions of exports. What ends something is never refused.
   * @throws ServiceError 429 `rate_limited`.
   */
  checkAudited(caller: string): void
  /** @throws ServiceError 429 `rate_limited`. */
  checkUser(userId: string, reply: FastifyReply): void
  /** @throws ServiceError 429 `rate_limited`. */
  checkPage(tenantId: string, ip: string, reply: FastifyReply): void
  /** Counts a request with a write key. @throws ServiceError 429 `rate_limited`. */
  checkSource(sourceId: string, reply: FastifyReply): void
  /**
   * Rejects bodies for a hook from an IP address that has sent too many without a valid signature. These do not count
   * against the hook's limit, and each hook is counted separately. @throws ServiceError 429 `rate_limited`.
   */
  checkInvalidSignatures(hookId: string, ip: string): void
  countInvalidSignature(hookId: string, ip: string): void
  /** Counts a body for a hook, and for all hooks of its tenant. @throws ServiceError 429 `rate_limited`. */
  checkHook(tenantId: string, hookId: string, reply: FastifyReply): void
  /** @throws ServiceError 429 `rate_limited`. */
  checkScript(ip: string, reply: FastifyReply): void
  /** Counts a look at a shared link by address. @throws ServiceError 429 `rate_limited`. */
  checkShared(sender: Sender, reply: FastifyReply): void
  /** @param reply null: the headers do not report this limit. @throws ServiceError 429 `rate_limited`. */
  checkForm(tenantId: string, formId: string, ip: string, reply: FastifyReply | null): void
  /** @param person the form's visitor or email address. @throws ServiceError 429 `rate_limited`. */
  checkFormPerson(tenantId: string, person: string, reply: FastifyReply | null): void
  /**
   * Counts a sign-in attempt by address, for any person. Only for requests that no page of another site can send: it
   * could otherwise lock out everyone who shares the address with its reader. @throws ServiceError 429 `rate_limited`.
   */
  checkSignIn(ip: string, reply: FastifyReply): void
  /** Counts a look at an invitation by address. @throws ServiceError 429 `rate_limited`. */
  checkInvitation(sender: Sender, reply: FastifyReply): void
  /**
   * Counts a return from the OpenID provider by address.
   * @param isExpected whether this browser started the sign-in. Pages of other sites can send it here too; these count
   * apart.
   * @throws ServiceError 429 `rate_limited`.
   */
  checkReturn(ip: string, isExpected: boolean, reply: FastifyReply): void
  /** Counts a registration of an application by address. @throws ServiceError 429 `rate_limited`. */
  checkRegistration(sender: Sender, reply: FastifyReply): void
  /**
   * Counts the attempt for the person, by email address or id: from this address, and from all addresses together,
   * which rejects only those that the person has not signed in from before.
   * @param knownBy which of the person's accounts have signed in from this address.
   * @returns whether the other accounts may be tried too. @throws ServiceError 429 `rate_limited`.
   */
  checkSignInOf(person: string, ip: string, knownBy: 'all' | 'some' | 'none', reply: FastifyReply): boolean
  /** Requests of a key in the last minute, counted by this process; null if counting is off. */
  usedByApiKey(keyId: string): number | null
  /** The same for all visitors of a tenant. */
  usedByTenant(tenantId: string): { tracking: number | null; forms: number | null }
}

/**
 * Creates the limiter of this process; without `limits` it counts nothing. Each limit has its own store, so that a
 * flood against one evicts nothing from another.
 */
export function createRateLimiter(limits: RateLimits | null, clock: Clock): RateLimiter {
  const createLimit = (perMinute: number | undefined): Limit | null =>
    perMinute === undefined ? null : { perMinute, windows: createWindows() }
  const apiKeys = createLimit(limits?.apiPerMinute)
  const audited = createLimit(limits?.downloadPerMinute)
  const users = createLimit(limits?.apiPerMinute)
  const guesses: Record<Guessable, Limit | null> = {
    'API key': createLimit(limits?.invalidKeyPerIpPerMinute),
    'write key': createLimit(limits?.invalidKeyPerIpPerMinute),
    'hook token': createLimit(limits?.invalidKeyPerIpPerMinute),
    'shared link': createLimit(limits?.invalidKeyPerIpPerMinute),
    'code or token': createLimit(limits?.invalidKeyPerIpPerMinute),
  }
  const trackers = createLimit(limits?.trackPerIpPerMinute)
  const trackedTenants = createLimit(limits?.trackPerTenantPerMinute)
  const sources = createLimit(limits?.sourcePerMinute)
  const hooks = createLimit(limits?.hookPerMinute)
  const invalidSignatures = createLimit(limits?.invalidKeyPerIpPerMinute)
  const hookTenants = createLimit(limits?.hookPerTenantPerMinute)
  const scripts = createLimit(limits?.scriptPerIpPerMinute)
  const shared = createLimit(limits?.sharedPerIpPerMinute)
  const forms = createLimit(limits?.formPerIpPerMinute)
  const formPersons = createLimit(limits?.formPerPersonPerMinute)
  const formTenants = createLimit(limits?.formPerTenantPerMinute)
  const signIns = createLimit(limits?.signInPerIpPerMinute)
  const signInPersons = createLimit(limits?.signInPerPersonPerMinute)
  const signInsElsewhere = createLimit(limits?.signInElsewherePerMinute)
  const invitations = createLimit(limits?.signInPerIpPerMinute)
  const returns = createLimit(limits?.signInPerIpPerMinute)
  const registrations = createLimit(limits?.registrationPerIpPerMinute)
  const now = () => clock().getTime()

  /** @param reply null: the headers do not report this limit. */
  function count(limit: Limit | null, key: string, reply: FastifyReply | null): void {
    if (limit === null) return
    const { perMinute, windows } = limit
    const usage = windows.usageOf(key, now())
    reply?.headers({
      'ratelimit-limit': String(perMinute),
      'ratelimit-remaining': String(Math.max(0, Math.floor(perMinute - usage.used - 1))),
      'ratelimit-reset': String(usage.resetSeconds),
      'ratelimit-policy': `${perMinute};w=60`,
    })
    if (usage.used >= perMinute) throw rateLimited('requests', perMinute, usage)
    windows.count(key, now())
  }

  function checkInvalid(limit: Limit | null, key: string, what: string): void {
    if (limit === null) return
    const usage = limit.windows.usageOf(key, now())
    if (usage.used >= limit.perMinute) throw rateLimited(what, limit.perMinute, usage)
  }

  const usedOf = (limit: Limit | null, key: string) => limit && Math.ceil(limit.windows.usageOf(key, now()).used)

  return {
    checkApiKey: (keyId, reply) => count(apiKeys, keyId, reply),
    checkAudited: (caller) => count(audited, caller, null),
    checkUser: (userId, reply) => count(users, userId, reply),
    checkInvalid: (kind, sender) => checkInvalid(guesses[kind], placeOf(sender), `requests with an invalid ${kind}`),
    countInvalid: (kind, sender) => guesses[kind]?.windows.count(placeOf(sender), now()),
    checkPage: (tenantId, ip, reply) => {
      count(trackedTenants, tenantId, reply)
      count(trackers, `${tenantId} ${hostOf(ip)}`, reply)
    },
    checkSource: (sourceId, reply) => count(sources, sourceId, reply),
    checkInvalidSignatures: (hookId, ip) =>
      checkInvalid(invalidSignatures, `${hookId} ${hostOf(ip)}`, 'bodies without a valid signature'),
    countInvalidSignature: (hookId, ip) => invalidSignatures?.windows.count(`${hookId} ${hostOf(ip)}`, now()),
    checkHook: (tenantId, hookId, reply) => {
      // First, so that what one hook refuses does not use up the limit of the others.
      count(hooks, hookId, reply)
      count(hookTenants, tenantId, reply)
    },
    checkScript: (ip, reply) => count(scripts, hostOf(ip), reply),
    checkShared: (sender, reply) => count(shared, placeOf(sender), reply),
    checkForm: (tenantId, formId, ip, reply) => {
      count(formTenants, tenantId, reply)
      count(forms, `${tenantId} ${hostOf(ip)} ${digest(formId)}`, reply)
    },
    checkFormPerson: (tenantId, person, reply) => count(formPersons, `${tenantId} ${digest(person)}`, reply),
    checkSignIn: (ip, reply) => count(signIns, hostOf(ip), reply),
    checkInvitation: (sender, reply) => count(invitations, placeOf(sender), reply),
    checkReturn: (ip, isExpected, reply) => count(returns, `${hostOf(ip)} ${isExpected}`, reply),
    checkRegistration: (sender, reply) => count(registrations, placeOf(sender), reply),
    checkSignInOf: (person, ip, knownBy, reply) => {
      count(signInPersons, `${hostOf(ip)} ${digest(person)}`, reply)
      if (signInsElsewhere === null) return true
      const { perMinute, windows } = signInsElsewhere
      const isFull = windows.usageOf(digest(person), now()).used >= perMinute
      // Counted even if all are known: otherwise the remaining attempts elsewhere would reveal whether the address has
      // more accounts.
      if (knownBy !== 'none' && isFull) return knownBy === 'all'
      // Different headers would reveal to others in the same network that a person has an account.
      count(signInsElsewhere, digest(person), null)
      return true
    },
    usedByApiKey: (keyId) => usedOf(apiKeys, keyId),
    usedByTenant: (tenantId) => ({
      tracking: usedOf(trackedTenants, tenantId),
      forms: usedOf(formTenants, tenantId),
    }),
  }
}

interface Limit {
  perMinute: number
  windows: Windows
}

function rateLimited(what: string, perMinute: number, { resetSeconds }: Usage): ServiceError {
  const message = `More than ${perMinute} ${what} in a minute. Wait ${resetSeconds} seconds.`
  return new ServiceError(429, 'rate_limited', message, { retryAfterSeconds: resetSeconds })
}

/** All invalid addresses share one count, so that inventing one does not reset it. */
function hostOf(ip: string): string {
  return networkOf(ip, HOST) ?? 'unknown'
}

/**
 * The address of a sender, and whether a page of any site can have sent the request: these count apart, so that a page
 * cannot use up what the programs and the dashboard at its reader's address may do.
 */
function placeOf({ ip, method, headers, verifiedHost = null }: Sender): string {
  if (verifiedHost !== null) return `${hostOf(ip)} page ${digest(verifiedHost)}`
  // Browsers add an Origin to all that a page sends, except to a simple GET, which has neither of these two headers.
  const isSimple = headers['x-requested-by'] === undefined && headers.authorization === undefined
  const isFromPage = headers.origin !== undefined || (isSimple && (method === 'GET' || method === 'HEAD'))
  return `${hostOf(ip)}${isFromPage ? ' page' : ''}`
}

/** Callers choose the length of these texts, and a store has a hundred thousand of them. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
