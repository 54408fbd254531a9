import { ServiceError } from '../platform/errors.ts'

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e]*"/g

/**
 * A check of the If-Match header, which lists the versions that the caller accepts (RFC 9110, 13.1.1).
 * @returns a function that throws ServiceError 412 `changed_meanwhile` if the current version is none of them.
 */
export function ifMatch(header: string | undefined): (etag: string) => void {
  if (header === undefined || header.trim() === '*') return () => {}
  const accepted: string[] = header.match(ENTITY_TAG) ?? []
  return (etag) => {
    if (accepted.includes(`"${etag}"`)) return
    const message = 'It was changed since you read it. Read it again, apply your change to it, and send its new ETag.'
    throw new ServiceError(412, 'changed_meanwhile', message)
  }
}
