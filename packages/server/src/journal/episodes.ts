import { hash } from 'node:crypto'

/**
 * The id of an anonymous episode of a visitor: from when it is first seen, or unlinked from a contact, until it is
 * identified. It follows from its parts, so whoever records the first event of a visitor needs to ask nobody.
 */
export function episodeId(tenantId: string, visitorId: string, episode: number): string {
  const digest = hash('sha256', `${tenantId}/${episode}/${visitorId}`, 'hex')
  // A UUID of version 8, which stands for "made of something else": none that the service draws is like it.
  const variant = ((Number.parseInt(digest.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}
