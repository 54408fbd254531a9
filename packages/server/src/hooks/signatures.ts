import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../platform/errors.ts'
import type { SignatureScheme } from './kinds.ts'

/** The maximum difference between a signature's time and now, which prevents replays of recorded requests. */
const TOLERANCE_SECONDS = 300
/** While a secret is being replaced, senders sign with at most two secrets. */
const SIGNATURES_MAX = 10
const HEX = /^[0-9a-f]{64}$/i
const BASE64 = /^[A-Za-z0-9+/]{43}=$/

/**
 * Checks the signature of a body: an HMAC-SHA256 over its raw bytes.
 * @throws ServiceError 401 `invalid_signature` with the problem, but without the expected signature.
 */
export function requireSignature(
  { header, form }: SignatureScheme,
  secret: string,
  body: Buffer,
  headers: FastifyRequest['headers'],
  now: Date,
): void {
  const sent = headers[header]
  if (typeof sent !== 'string') throw invalid(`The signature header ${header} is missing.`)
  const isRight = form === 'timed' ? isTimed(header, sent, secret, body, now) : isOneOf([sent.trim()], secret, body)
  if (!isRight) {
    throw invalid(`The signature in ${header} does not match the body. Check the signing secret of the hook.`)
  }
}

/** `t=<seconds>,v1=<hex>`, with one v1 per secret. Other versions are ignored. */
function isTimed(header: string, sent: string, secret: string, body: Buffer, now: Date): boolean {
  const parts = sent.split(',').map((part) => part.trim())
  const time = parts.find((part) => part.startsWith('t='))?.slice(2) ?? ''
  const signatures = parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3))
  if (!/^\d{1,12}$/.test(time) || signatures.length === 0) {
    throw invalid(`The header ${header} must have the form t=…,v1=….`)
  }
  const signed = Buffer.concat([Buffer.from(`${time}.`), body])
  if (!isOneOf(signatures, secret, signed)) return false
  if (Math.abs(now.getTime() / 1000 - Number(time)) > TOLERANCE_SECONDS) {
    throw invalid(`The signature in ${header} is more than ${TOLERANCE_SECONDS / 60} minutes old or from the future.`)
  }
  return true
}

function isOneOf(signatures: readonly string[], secret: string, signed: Buffer): boolean {
  const expected = createHmac('sha256', secret).update(signed).digest()
  return signatures.slice(0, SIGNATURES_MAX).some((signature) => {
    const bytes = bytesOf(signature.replace(/^sha256=/i, ''))
    return bytes !== null && timingSafeEqual(bytes, expected)
  })
}

/** The bytes of an HMAC-SHA256 in hexadecimal digits or base64; null if it is neither. */
function bytesOf(signature: string): Buffer | null {
  if (HEX.test(signature)) return Buffer.from(signature, 'hex')
  return BASE64.test(signature) ? Buffer.from(signature, 'base64') : null
}

function invalid(message: string): ServiceError {
  return new ServiceError(401, 'invalid_signature', `${message} Nothing was kept.`)
}
