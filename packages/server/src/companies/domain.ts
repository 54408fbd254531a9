const LABEL = /^[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u

/**
 * Normalizes a company's domain: `https://www.Acme.com/about` becomes `acme.com`.
 * @returns null if the text is not a domain.
 */
export function parseCompanyDomain(text: string): string | null {
  const trimmed = text.trim().toLowerCase()
  const address = /^https?:\/\//.test(trimmed) ? trimmed : `http://${trimmed}`
  const host = URL.parse(address)?.hostname.replace(/\.$/, '') ?? ''
  const domain = host.startsWith('www.') ? host.slice(4) : host
  const labels = domain.split('.')
  const isDomain = labels.length >= 2 && domain.length <= 253 && labels.every((label) => LABEL.test(label))
  // An IP address belongs to a machine, not to a company.
  return isDomain && !/^[\d.]+$/.test(domain) ? domain : null
}

/**
 * The domain as `parseCompanyDomain` writes it. Another text is only trimmed and in lower case: it can still be looked
 * up.
 */
export function spelledDomain(text: string): string {
  return parseCompanyDomain(text) ?? text.trim().toLowerCase()
}
