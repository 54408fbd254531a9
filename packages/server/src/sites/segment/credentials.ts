import type { FastifyReply, FastifyRequest } from 'fastify'
import { hasSessionCookie } from '../../access/sessions.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { RateLimiter, Sender } from '../../platform/http/rate-limits.ts'
import type { FindSource, KeyedSource } from '../../sources/write-keys.ts'
import { sendingHost } from '../track/location.ts'
import { domainNotAllowed, type FindTenantOfHost } from '../track/page.ts'
import { fieldsOf, textOf } from './fields.ts'

const BASIC = /^Basic +([A-Za-z0-9+/_-]{1,400}={0,2})$/i

export interface CredentialDependencies {
  findSource: FindSource
  findTenantOfHost: FindTenantOfHost
  rateLimiter: Pick<RateLimiter, 'checkInvalid' | 'countInvalid' | 'checkSource' | 'checkPage'>
}

/** The write key in the Authorization header, else in the path or the query; null if it can only be in the body. */
export function keyBeforeBody({
  headers,
  params,
  query,
}: Pick<FastifyRequest, 'headers' | 'params' | 'query'>): string | null {
  const { authorization } = headers
  if (authorization === undefined) return textOf(fieldsOf(params).writeKey) || textOf(fieldsOf(query).writeKey) || null
  const [, encoded = ''] = BASIC.exec(authorization) ?? []
  // The key is the user name; there is no password.
  const [key = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return key
}

export function keyInBody(body: unknown): string | null {
  return textOf(fieldsOf(body).writeKey) || null
}

/**
 * Whether a request to a path that the API has too is an SDK's: it has a write key instead of an API key or a session.
 */
export function isFromSdk({ headers }: Pick<FastifyRequest['raw'], 'headers'>, publicUrl: string): boolean {
  const { authorization, cookie } = headers
  return authorization === undefined ? !hasSessionCookie(cookie, publicUrl) : /^Basic /i.test(authorization)
}

export function missingWriteKey(): ServiceError {
  const message =
    'Send your write key as the user name of Authorization: Basic, or as writeKey in the body or the query.'
  return new ServiceError(401, 'missing_write_key', message)
}

/** Finds the source of a write key. @throws ServiceError 401 `invalid_write_key`, 429 `rate_limited`. */
export async function sourceOfKey(
  { findSource, findTenantOfHost, rateLimiter }: CredentialDependencies,
  key: string,
  { ip, method, headers }: Pick<Sender, 'ip' | 'method' | 'headers'>,
): Promise<KeyedSource> {
  const host = sendingHost(headers)
  const senderOf = async (): Promise<Sender> => {
    const isVerified = host !== null && (await findTenantOfHost(host)) !== null
    return { ip, method, headers, verifiedHost: isVerified ? host : null }
  }
  const source = await findSource(key, async () => rateLimiter.checkInvalid('write key', await senderOf()))
  if (source !== null) return source
  rateLimiter.countInvalid('write key', await senderOf())
  const message = 'The write key is not valid. It may be mistyped or replaced, or its source was deleted.'
  throw new ServiceError(401, 'invalid_write_key', message)
}

/**
 * Checks that a write key may be used here and now. A browser's key is public, so it works on the tenant's verified
 * domains only. A server's key is secret, so a page must not contain it.
 * @throws ServiceError 403 `domain_not_allowed` or `server_key_in_browser`, 429 `rate_limited`.
 */
export async function requirePlaceOfKey(
  { findTenantOfHost, rateLimiter }: CredentialDependencies,
  { tenantId, sourceId, type }: KeyedSource,
  { ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>,
  reply: FastifyReply,
): Promise<void> {
  if (type === 'browser') {
    const host = sendingHost(headers)
    if (host === null || (await findTenantOfHost(host)) !== tenantId) throw domainNotAllowed(host)
    rateLimiter.checkPage(tenantId, ip, reply)
  } else if (headers.origin !== undefined || headers.referer !== undefined) {
    const message =
      'This write key belongs to a server, and a page must not contain it. Create a source of the type browser for the page, and rotate this key.'
    throw new ServiceError(403, 'server_key_in_browser', message)
  }
  rateLimiter.checkSource(sourceId, reply)
}
