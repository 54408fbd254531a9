import { promises } from 'node:dns'

/** Looks up the TXT records of a name. @returns null if DNS gave no usable response. */
export type LookUpTxt = (name: string) => Promise<string[] | null>

const TIMEOUT_MS = 3_000
const TRIES = 2
const VALUES_MAX = 50
/** DNS errors that mean that there are no records. */
const NOTHING = ['ENOTFOUND', 'ENODATA']

/**
 * Queries the system's name servers, or the given ones. A separate resolver, because the system's look-up caches old
 * records for their TTL.
 */
export function createTxtLookup(servers?: readonly string[]): LookUpTxt {
  return async (name) => {
    const resolver = new promises.Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
    if (servers) resolver.setServers([...servers])
    try {
      const records = await resolver.resolveTxt(name)
      // A long value is split into parts.
      return records.slice(0, VALUES_MAX).map((parts) => parts.join(''))
    } catch (error) {
      return NOTHING.includes((error as { code?: string }).code ?? '') ? [] : null
    }
  }
}
