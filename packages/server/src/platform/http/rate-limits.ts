import type { FastifyReply } from 'fastify'
import type { RateLimits } from '../../config.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../time.ts'

const WINDOW_MS = 60_000
const WINDOWS_MAX = 100_000

/** Counts requests of this process and refuses those over a limit, saying so in the standard headers. */
export interface RateLimiter {
  /** @throws ServiceError 429 `rate_limited`. */
  checkApiKey(keyId: string, reply: FastifyReply): void
  /** @throws ServiceError 429 `rate_limited`. */
  checkUser(userId: string, reply: FastifyReply): void
  /** @throws ServiceError 429 `rate_limited`. */
  checkPage(tenantId: string, ip: string, reply: FastifyReply): void
  /** @throws ServiceError 429 `rate_limited`. */
  checkScript(ip: string, reply: FastifyReply): void
  /** @throws ServiceError 429 `rate_limited`. */
  checkForm(tenantId: string, formId: string, ip: string, reply: FastifyReply): void
  /** @param person the visitor or the e-mail address that a form names. @throws ServiceError 429 `rate_limited`. */
  checkFormPerson(tenantId: string, person: string, reply: FastifyReply): void
  /** An attempt to sign in, from an address whoever is tried. @throws ServiceError 429 `rate_limited`. */
  checkSignIn(ip: string, reply: FastifyReply): void
  /**
   * The same for the person that is tried, by the e-mail address or the id: from this address, and from all together
   * unless the person has signed in from this one before. @throws ServiceError 429 `rate_limited`.
   */
  checkSignInOf(person: string, ip: string, isKnown: boolean, reply: FastifyReply): void
  /** Requests of a key in the last minute, as this process has counted them; null when nothing is counted. */
  usedByApiKey(keyId: string): number | null
  /** The same of all visitors of a tenant. */
  usedByTenant(tenantId: string): { tracking: number | null; forms: number | null }
}

interface Window {
  startedAt: number
  current: number
  before: number
}

/**
 * A sliding window a key: the window before counts by the part of it that is still within a minute. No burst of twice
 * the limit is possible at a window's border, and two numbers a key are all that is kept.
 */
export function createRateLimiter(limits: RateLimits | null, clock: Clock): RateLimiter {
  const windows = new Map<string, Window>()

  function check(key: string, limit: number, reply: FastifyReply): void {
    const now = clock().getTime()
    const window = windowOf(key, now)
    const elapsed = now - window.startedAt
    const used = window.before * (1 - elapsed / WINDOW_MS) + window.current
    const resetSeconds = Math.max(1, Math.ceil((WINDOW_MS - elapsed) / 1000))
    const headers = {
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': String(Math.max(0, Math.floor(limit - used - 1))),
      'ratelimit-reset': String(resetSeconds),
      'ratelimit-policy': `${limit};w=${WINDOW_MS / 1000}`,
    }
    reply.headers(headers)
    if (used >= limit) {
      const message = `More than ${limit} requests in a minute. Wait ${resetSeconds} seconds.`
      throw new ServiceError(429, 'rate_limited', message, { headers: { 'retry-after': String(resetSeconds) } })
    }
    window.current++
  }

  function windowOf(key: string, now: number): Window {
    const known = windows.get(key)
    if (known && now - known.startedAt < WINDOW_MS) return known
    const isNext = known !== undefined && now - known.startedAt < 2 * WINDOW_MS
    const startedAt = isNext ? known.startedAt + WINDOW_MS : now
    const window = { startedAt, current: 0, before: isNext ? known.current : 0 }
    if (windows.size >= WINDOWS_MAX) forgetPast(now)
    windows.set(key, window)
    return window
  }

  function usedBy(key: string): number | null {
    if (!limits) return null
    const elapsed = clock().getTime() - (windows.get(key)?.startedAt ?? Number.NEGATIVE_INFINITY)
    const { before = 0, current = 0 } = windows.get(key) ?? {}
    if (elapsed < WINDOW_MS) return Math.ceil(before * (1 - elapsed / WINDOW_MS) + current)
    return elapsed < 2 * WINDOW_MS ? Math.ceil(current * (2 - elapsed / WINDOW_MS)) : 0
  }

  function forgetPast(now: number): void {
    for (const [key, { startedAt }] of windows) if (now - startedAt >= 2 * WINDOW_MS) windows.delete(key)
    // Still full: every key is in use, which only an attack does. Starting anew is better than growing.
    if (windows.size >= WINDOWS_MAX) windows.clear()
  }

  return {
    checkApiKey: (keyId, reply) => {
      if (limits) check(`key ${keyId}`, limits.apiPerMinute, reply)
    },
    checkUser: (userId, reply) => {
      if (limits) check(`user ${userId}`, limits.apiPerMinute, reply)
    },
    checkPage: (tenantId, ip, reply) => {
      if (!limits) return
      check(`tenant ${tenantId}`, limits.trackPerTenantPerMinute, reply)
      check(`ip ${tenantId} ${ip}`, limits.trackPerIpPerMinute, reply)
    },
    checkScript: (ip, reply) => {
      if (limits) check(`script ${ip}`, limits.scriptPerIpPerMinute, reply)
    },
    checkForm: (tenantId, formId, ip, reply) => {
      if (!limits) return
      check(`forms ${tenantId}`, limits.formPerTenantPerMinute, reply)
      check(`form ${tenantId} ${formId} ${ip}`, limits.formPerIpPerMinute, reply)
    },
    checkFormPerson: (tenantId, person, reply) => {
      if (limits) check(`form person ${tenantId} ${person}`, limits.formPerPersonPerMinute, reply)
    },
    checkSignIn: (ip, reply) => {
      if (limits) check(`sign-in ip ${ip}`, limits.signInPerIpPerMinute, reply)
    },
    checkSignInOf: (person, ip, isKnown, reply) => {
      if (!limits) return
      check(`sign-in person ${person} ${ip}`, limits.signInPerPersonPerMinute, reply)
      if (!isKnown) check(`sign-in elsewhere ${person}`, limits.signInElsewherePerMinute, reply)
    },
    usedByApiKey: (keyId) => usedBy(`key ${keyId}`),
    usedByTenant: (tenantId) => ({ tracking: usedBy(`tenant ${tenantId}`), forms: usedBy(`forms ${tenantId}`) }),
  }
}
