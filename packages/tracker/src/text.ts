import { options } from './options.ts'

/** An email address; @ and dot may be percent-encoded any number of times: `ada@example.com`, `ada%2540example%2Ecom`. */
export const ADDRESS = /.(@|%(25)*40).+(\.|%(25)*2e)\D/i
const SENSITIVE = 'pass|token|secret|auth(?!or)|mail|phone|session|api_?key'

/** Collapses white space and cuts to 200 characters as the service counts them: a surrogate pair is one character. */
export function cut(text: unknown): string {
  return `${`${text ?? ''}`
    .trim()
    .replace(/\s+/g, ' ')
    .match(/.{0,200}/u)}`
}

/**
 * Redacts email addresses anywhere in a URL, and the values of parameters that look personal or secret in its query and
 * its fragment.
 */
export function redact(url: string): string {
  const names = new RegExp(SENSITIVE + (options.redact ? `|${options.redact}` : ''), 'i')
  return url
    .slice(0, 4000)
    .replace(/\/\/[^/?#]*@/, '//')
    .replace(/([?&#;])([^?&#;=]*)=[^&#;]*/g, (whole, mark, name) =>
      names.test(name) ? `${mark}${name}=redacted` : whole,
    )
    .replace(/[^?&#;=:/]+/g, (part) => (ADDRESS.test(part) ? 'redacted' : part))
}
