import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { promisify } from 'node:util'
import { refusalOf } from './addresses.ts'
import { notPublic } from './urls.ts'

/** Finds the addresses of a name. */
export type Resolve = (host: string) => Promise<LookupAddress[]>

/** Finds the addresses of a name and refuses those that must not be called. */
type AddressFinder = (host: string) => Promise<LookupAddress[]>

const resolveBySystem: Resolve = (host) => promisify(systemLookup)(host, { all: true, verbatim: true })

/** @returns a function that throws RefusedAddress for a name that leads, be it only once, out of the public internet. */
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
      // One address out of line condemns the name: whoever mixes them is trying something.
      if (refusal !== null) throw notPublic(address, refusal)
    }
    return found.filter(({ address }) => isIP(address) !== 0)
  }
}

/** A burst opens hundreds of connections to one host at once; nobody needs to ask for its name as often. */
export function askOnce(find: AddressFinder): AddressFinder {
  const underWay = new Map<string, Promise<LookupAddress[]>>()
  return (host) => {
    const asked = underWay.get(host) ?? find(host).finally(() => underWay.delete(host))
    underWay.set(host, asked)
    return asked
  }
}

/** The look-up for a socket: it gets the checked addresses themselves, so that no second answer can differ. */
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
