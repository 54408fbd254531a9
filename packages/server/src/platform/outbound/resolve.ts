import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { promisify } from 'node:util'
import { refusalOf } from './addresses.ts'
import { notPublic } from './urls.ts'

/** Resolves a name. */
export type Resolve = (host: string) => Promise<LookupAddress[]>

/** Resolves a name and rejects addresses that must not be called. */
type AddressFinder = (host: string) => Promise<LookupAddress[]>

const resolveBySystem: Resolve = (host) => promisify(systemLookup)(host, { all: true, verbatim: true })

/** @returns a function that throws RefusedAddress for a name with any address outside the public internet. */
export function createAddressFinder({
  allowPrivate,
  resolve = resolveBySystem,
}: {
  allowPrivate: boolean
  resolve?: Resolve
}): AddressFinder {
  return async (host) => {
    const found = await resolve(host)
    for (const { address } of found) {
      const refusal = allowPrivate ? null : refusalOf(address)
      // One forbidden address rejects the name, because a mix suggests an attack.
      if (refusal !== null) throw notPublic(address, refusal)
    }
    return found.filter(({ address }) => isIP(address) !== 0)
  }
}

/** A burst opens hundreds of connections to one host at once, which share one look-up. */
export function shareLookups(find: AddressFinder): AddressFinder {
  const underWay = new Map<string, Promise<LookupAddress[]>>()
  return (host) => {
    const asked = underWay.get(host) ?? find(host).finally(() => underWay.delete(host))
    underWay.set(host, asked)
    return asked
  }
}

/** The look-up function for a socket: it returns the checked addresses, so that no second look-up can differ. */
export function checkedLookup(checkedAddresses: AddressFinder): LookupFunction {
  return (host, options, callback) => {
    checkedAddresses(host).then(
      (found) => {
        const [first] = found
        if (!first) {
          const error: NodeJS.ErrnoException = new Error(`${host} has no address`)
          error.code = 'ENOTFOUND'
          callback(error, '', 0)
        } else if (options.all) callback(null, found)
        else callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    )
  }
}
