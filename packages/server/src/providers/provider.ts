import { PROVIDER_NAMES, type ProviderName } from '../config-values.ts'
import { ServiceError, validationError } from '../platform/errors.ts'

export type { ProviderName }

/** Settings that determine a provider's URLs, such as the domain of an organization. */
export type ProviderSettings = Readonly<Record<string, string>>

export interface ProviderUrls {
  authorizationUrl: string
  tokenUrl: string
}

/** A service where people sign in with OAuth 2. */
export interface Provider {
  name: ProviderName
  /** Its display name. */
  label: string
  /** @throws ServiceError 400 for invalid settings. */
  urlsOf(settings: ProviderSettings): ProviderUrls
  /** Parameters of every authorization request, in addition to those of OAuth 2. */
  parameters: Readonly<Record<string, string>>
  /** Whether it checks a code challenge (PKCE). Providers that do not document PKCE get none. */
  usesPkce: boolean
  /** How the client authenticates at the token URL: in the form, or with HTTP Basic authentication. */
  clientAuthentication: 'form' | 'basic'
  /** Whether an issuer is the provider's, in the authorization response (RFC 9207) and in ID tokens. */
  isIssuer(issuer: string): boolean
}

const atFixedUrls = (authorizationUrl: string, tokenUrl: string) => () => ({ authorizationUrl, tokenUrl })

const GOOGLE: Provider = {
  name: 'google',
  label: 'Google',
  urlsOf: atFixedUrls('https://accounts.google.com/o/oauth2/v2/auth', 'https://oauth2.googleapis.com/token'),
  // Without `consent`, Google issues a refresh token only the first time that a person allows the application.
  parameters: { access_type: 'offline', prompt: 'consent' },
  usesPkce: true,
  clientAuthentication: 'form',
  // ID tokens may contain the issuer without the scheme.
  isIssuer: (issuer) => issuer === 'https://accounts.google.com' || issuer === 'accounts.google.com',
}

const ENTRA = 'https://login.microsoftonline.com'
/** The issuer contains the id of the organization, or the id that all personal accounts share. */
const ENTRA_ISSUER = /^https:\/\/login\.microsoftonline\.com\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\/v2\.0$/

const MICROSOFT: Provider = {
  name: 'microsoft',
  label: 'Microsoft 365',
  // `common` accepts the accounts of every organization, and personal accounts.
  urlsOf: atFixedUrls(`${ENTRA}/common/oauth2/v2.0/authorize`, `${ENTRA}/common/oauth2/v2.0/token`),
  parameters: { response_mode: 'query', prompt: 'select_account' },
  usesPkce: true,
  clientAuthentication: 'form',
  isIssuer: (issuer) => ENTRA_ISSUER.test(issuer),
}

const HUBSPOT: Provider = {
  name: 'hubspot',
  label: 'HubSpot',
  urlsOf: atFixedUrls('https://app.hubspot.com/oauth/authorize', 'https://api.hubapi.com/oauth/v1/token'),
  parameters: {},
  usesPkce: false,
  clientAuthentication: 'form',
  isIssuer: isAtHost(/(^|\.)(hubspot|hubapi)\.com$/),
}

/** Salesforce's own sign-in pages, and the domain (My Domain) of an organization or a sandbox. */
const SALESFORCE_DOMAIN = /^(login|test|([a-z0-9]([a-z0-9-]*[a-z0-9])?)(\.sandbox|\.develop)?\.my)\.salesforce\.com$/

const SALESFORCE: Provider = {
  name: 'salesforce',
  label: 'Salesforce',
  urlsOf: ({ domain = 'login.salesforce.com' }) => {
    if (domain.length > 253 || !SALESFORCE_DOMAIN.test(domain)) {
      const expected = 'must be login.salesforce.com, test.salesforce.com or a domain like acme.my.salesforce.com'
      throw validationError([{ path: 'domain', message: expected }])
    }
    const base = `https://${domain}/services/oauth2`
    return { authorizationUrl: `${base}/authorize`, tokenUrl: `${base}/token` }
  },
  parameters: {},
  usesPkce: true,
  clientAuthentication: 'form',
  isIssuer: isAtHost(/\.salesforce\.com$/),
}

const PIPEDRIVE: Provider = {
  name: 'pipedrive',
  label: 'Pipedrive',
  urlsOf: atFixedUrls('https://oauth.pipedrive.com/oauth/authorize', 'https://oauth.pipedrive.com/oauth/token'),
  parameters: {},
  usesPkce: false,
  clientAuthentication: 'basic',
  isIssuer: isAtHost(/(^|\.)pipedrive\.com$/),
}

const PROVIDERS: Readonly<Record<ProviderName, Provider>> = {
  google: GOOGLE,
  microsoft: MICROSOFT,
  hubspot: HUBSPOT,
  salesforce: SALESFORCE,
  pipedrive: PIPEDRIVE,
}

/** @throws ServiceError 404 `unknown_provider` that names the providers. */
export function providerNamed(name: string): Provider {
  const known = PROVIDER_NAMES.find((each) => each === name)
  if (known) return PROVIDERS[known]
  throw new ServiceError(
    404,
    'unknown_provider',
    `This provider does not exist. Use one of ${PROVIDER_NAMES.join(', ')}.`,
  )
}

/**
 * The URLs of a provider.
 * @param replacements for tests: base URLs that replace the providers' own, by name.
 * @throws ServiceError 400 for invalid settings.
 */
export function urlsOf(
  provider: Provider,
  settings: ProviderSettings,
  replacements: Readonly<Record<string, string>>,
): ProviderUrls {
  const urls = provider.urlsOf(settings)
  const base = replacements[provider.name]
  if (base === undefined) return urls
  const moved = (url: string) => new URL(new URL(url).pathname, base).href
  return { authorizationUrl: moved(urls.authorizationUrl), tokenUrl: moved(urls.tokenUrl) }
}

function isAtHost(host: RegExp): (issuer: string) => boolean {
  return (issuer) => {
    const url = URL.parse(issuer)
    return url?.protocol === 'https:' && host.test(url.hostname)
  }
}
