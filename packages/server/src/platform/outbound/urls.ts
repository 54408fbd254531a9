import { isIP } from 'node:net'
import { hasMoreCharacters } from '../characters.ts'
import { ServiceError } from '../errors.ts'
import { refusalOf } from './addresses.ts'

const URL_LENGTH_MAX = 2_048
const HTTPS_PORT = 443
/** Lower ports belong to other protocols; the list has the higher ones that browsers block for the same reason. */
const FREE_PORTS_FROM = 1_024
const REFUSED_PORTS = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]
/** Names that only exist inside a network. */
const LOCAL_NAMES = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|localdomain|home\.arpa)$/

/** Thrown for a URL from a user that the service must not call. */
export class RefusedAddress extends ServiceError {
  constructor(message: string) {
    super(400, 'url_not_allowed', message)
  }
}

/** Thrown for an address outside the public internet, which a setting of the service can allow. */
export class PrivateAddress extends RefusedAddress {}

export interface UrlRules {
  /** For development and tests: allows private and local addresses, and nothing else. */
  allowPrivate: boolean
  /** Also allows http://, for servers in the same network; only together with `allowPrivate`. */
  allowHttp?: boolean
}

/** Checks a URL as far as possible without DNS. @throws RefusedAddress saying what is wrong. */
export function checkUrl(text: string, { allowPrivate, allowHttp = false }: UrlRules): URL {
  if (hasMoreCharacters(text, URL_LENGTH_MAX))
    throw new RefusedAddress(`The URL is longer than ${URL_LENGTH_MAX} characters.`)
  if (!URL.canParse(text)) throw new RefusedAddress('This is not a URL. Use one like https://example.com/hooks')
  const url = new URL(text)
  const isPlain = allowHttp && url.protocol === 'http:'
  if (url.protocol !== 'https:' && !isPlain) throw new RefusedAddress('The URL must begin with https://')
  if (url.username !== '' || url.password !== '') {
    throw new RefusedAddress('The URL must not contain a user name or password. Send them in a custom header.')
  }
  const port = url.port === '' ? HTTPS_PORT : Number(url.port)
  if ((port !== HTTPS_PORT && port < FREE_PORTS_FROM) || REFUSED_PORTS.includes(port)) {
    throw new RefusedAddress(`Port ${port} is not allowed. Use ${HTTPS_PORT}, or ${FREE_PORTS_FROM} and above.`)
  }
  if (!allowPrivate) checkHost(hostOf(url))
  return url
}

/** Host name or address of a URL, without IPv6 brackets or a trailing dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

/** Checks a host without a URL. @throws RefusedAddress */
export function checkHost(host: string): void {
  if (isIP(host) !== 0) {
    const refusal = refusalOf(host)
    if (refusal !== null) throw notPublic(host, refusal)
    return
  }
  if (LOCAL_NAMES.test(host) || !host.includes('.')) throw notPublic(host, 'a local name')
}

/** The error for an address outside the public internet. */
export function notPublic(host: string, reason: string): PrivateAddress {
  return new PrivateAddress(`${host} is not a public internet address (${reason}).`)
}
