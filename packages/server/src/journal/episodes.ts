import { hash } from 'node:crypto'

/**
 * The id of an anonymous episode of a visitor: from when it is first seen, or unlinked from a contact, until it is
 * identified. It is derived from its parts, so recording a visitor's first event needs no look-up.
 */
export function episodeId(tenantId: string, visitorId: string, episode: number): string {
  const digest = hash('sha256', `${tenantId}/${episode}/${visitorId}`, 'hex')
  // A UUID of version 8 ("custom"), which cannot equal an id that the service generates.
  const variant = ((Number.parseInt(digest.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}
