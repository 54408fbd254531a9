const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Whether a URL means this machine. No site can point these hosts at another one. */
export function isLoopback(url: string): boolean {
  return LOOPBACK.test(new URL(url).hostname)
}

/** Whether a domain means the machine of whoever opens it: nobody owns it. */
export function isLocalDomain(domain: string): boolean {
  return LOOPBACK.test(domain) || domain.endsWith('.localhost')
}
