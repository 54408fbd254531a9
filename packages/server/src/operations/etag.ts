import { hash } from 'node:crypto'
import { ServiceError } from '../platform/errors.ts'

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e]*"/g

/** The version of a record for `ETag` and `If-Match`: a hash of the parts that its writers change, in a fixed order. */
export function etagOf(...parts: unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url')
}

/**
 * A check of the If-Match header, which lists the versions that the caller accepts (RFC 9110, 13.1.1).
 * @returns a function that throws ServiceError 412 `changed_meanwhile` if the current version is none of them.
 */
export function ifMatch(header: string | undefined): (etag: string) => void {
  if (header === undefined || header.trim() === '*') return () => {}
  const accepted: string[] = header.match(ENTITY_TAG) ?? []
  return (etag) => {
    if (accepted.includes(`"${etag}"`)) return
    const message = 'The record has changed since you read it. Read it again, apply your change, and send the new ETag.'
    throw new ServiceError(412, 'changed_meanwhile', message)
  }
}

/**
 * A header that protects a change must not be ignored.
 * @throws ServiceError 400 `if_match_not_supported`, for operations that do not check it.
 */
export function refuseIfMatch(header: string | undefined): void {
  if (header === undefined) return
  const message =
    'This operation does not check If-Match. Send the request without it, or change records that have an ETag one by one.'
  throw new ServiceError(400, 'if_match_not_supported', message)
}

/** A check for changes without If-Match. */
export const anyVersion = () => {}
