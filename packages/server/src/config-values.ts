import { isAbsolute } from 'node:path'

/** The services at which this one can sign in with OAuth 2. */
export const PROVIDER_NAMES = ['google', 'microsoft', 'hubspot', 'salesforce', 'pipedrive'] as const
export type ProviderName = (typeof PROVIDER_NAMES)[number]
export type OAuthClients = Partial<Record<ProviderName, { clientId: string; clientSecret: string }>>

/** Of CDS_SECRET_KEY. */
export const KEY_BYTES = 32

/** US dollars for a million tokens, by model. */
export type Prices = Record<string, { input: number; output: number; cached_input?: number }>

/** A path outside the service's own routes, which it would shadow. */
export const PUBLIC_PATH =
  /^(?!\/(v1|api|assets|docs|health|metrics|mcp|openapi\.json)(\/|$))(?!.*\/recover-visitor$)(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$/
export const PUBLIC_PATH_FORM =
  'a path like /stats/script.js, outside /v1, /api, /assets, /docs, /health, /metrics, /mcp and /openapi.json'

export const PROXIES_FORM = 'the number of proxies in front of the service: 1 instead of on, 0 instead of off'

export const TOKEN = /^[\x21-\x7e]{0,1000}$/

export const ON_OFF = new Map([
  ['on', true],
  ['1', true],
  ['true', true],
  ['off', false],
  ['0', false],
  ['false', false],
])

export function keysOf(text: string): Buffer[] | undefined {
  if (text === '') return []
  const parts = text.split(',').map((part) => part.trim())
  const keys = parts.map((part) => Buffer.from(part, 'base64'))
  return keys.every((key) => key.length === KEY_BYTES) ? keys : undefined
}

export function authSecretOf(text: string): string | null | undefined {
  if (text === '') return null
  return text.length >= 32 ? text : undefined
}

/** @returns undefined when the text is not a whole number of this range. */
export function wholeNumber(text: string, min: number, max: number): number | undefined {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : undefined
}

/** A header cannot contain line breaks. */
export function keyOf(text: string): string | null | undefined {
  if (text === '') return null
  return /^[\x21-\x7e]{1,1000}$/.test(text) ? text : undefined
}

export function pricesOf(text: string): Prices | undefined {
  try {
    const prices = JSON.parse(text) as Record<string, { input?: unknown; output?: unknown; cached_input?: unknown }>
    const isPrice = (value: unknown) => typeof value === 'number' && value >= 0 && value <= 100_000
    const fits = Object.values(prices).every(
      ({ input, output, cached_input = 0 }) => isPrice(input) && isPrice(output) && isPrice(cached_input),
    )
    return fits ? (prices as Prices) : undefined
  } catch {
    return undefined
  }
}

export function urlOf(text: string, protocols: string[]): string | undefined {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol) ? text : undefined
}

/** An invalid URL may still contain a password, which must not reach a log. */
export function mask(text: string): string {
  return text.replace(/\/\/[^@/]*@/, '//***@')
}

/** The OAuth clients of the environment: of each provider, both variables or neither. Adds to `problems`. */
export function oauthClientsOf(read: (variable: string) => string | null, problems: string[]): OAuthClients {
  const clients: OAuthClients = {}
  for (const name of PROVIDER_NAMES) {
    const prefix = `CDS_OAUTH_${name.toUpperCase()}_CLIENT`
    const [clientId, clientSecret] = [read(`${prefix}_ID`), read(`${prefix}_SECRET`)]
    if (clientId !== null && clientSecret !== null) clients[name] = { clientId, clientSecret }
    else if (clientId !== clientSecret) problems.push(`${prefix}_ID and ${prefix}_SECRET must be set together`)
  }
  return clients
}

/** An absolute path; undefined for any other text. */
export function absolutePathOf(text: string): string | undefined {
  return isAbsolute(text) ? text : undefined
}
