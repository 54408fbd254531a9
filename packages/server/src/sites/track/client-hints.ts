import type { FastifyRequest } from 'fastify'

/**
 * What a browser says about itself besides its User-Agent: the hints that Chromium sends without being asked. Others, such as
 * the model, would have to be asked for by the page itself: browsers ignore `Accept-CH` of a script or an answer to /track.
 */
export interface ClientHints {
  /** Such as `Google Chrome` and `Chromium`, in no order; made-up ones among them. */
  brands: readonly string[]
  isMobile: boolean | null
  /** Such as `Windows`; '' if not sent. */
  platform: string
}

/** Real ones have some 120 characters. */
const LENGTH_MAX = 500
/** A name in a list such as `"Chromium";v="141", "Not A;Brand";v="8"`. */
const BRAND = /"((?:[^"\\]|\\.)*)";v=/g

/** The hints of a request; null if it has none. */
export function hintsOf(headers: FastifyRequest['headers']): ClientHints | null {
  const brands = textOf(headers['sec-ch-ua'])
  const mobile = textOf(headers['sec-ch-ua-mobile'])
  const platform = textOf(headers['sec-ch-ua-platform'])
  if (brands === '' && mobile === '' && platform === '') return null
  return {
    brands: [...brands.matchAll(BRAND)].map(([, name = '']) => name),
    isMobile: mobile === '' ? null : mobile === '?1',
    platform: platform.replace(/^"|"$/g, ''),
  }
}

function textOf(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value.slice(0, LENGTH_MAX) : ''
}
