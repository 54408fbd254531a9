import { promises } from 'node:dns'

/** Asks DNS for the TXT records of a name. @returns none for a name without; null when DNS gave no answer. */
export type LookUpTxt = (name: string) => Promise<string[] | null>

const TIMEOUT_MS = 3_000
const TRIES = 2
const VALUES_MAX = 50
/** What DNS says when it knows that there is nothing. */
const NOTHING = ['ENOTFOUND', 'ENODATA']

/**
 * Asks the system's name servers, or the ones given. A resolver of its own, because the system's look-up would answer
 * from its cache for as long as the record before allowed.
 */
export function createTxtLookup(servers?: readonly string[]): LookUpTxt {
  return async (name) => {
    const resolver = new promises.Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
    if (servers) resolver.setServers([...servers])
    try {
      const records = await resolver.resolveTxt(name)
      // A long value comes in parts.
      return records.slice(0, VALUES_MAX).map((parts) => parts.join(''))
    } catch (error) {
      return NOTHING.includes((error as { code?: string }).code ?? '') ? [] : null
    }
  }
}
