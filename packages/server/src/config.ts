import { fileURLToPath } from 'node:url'
import {
  absolutePathOf,
  authSecretOf,
  keyOf,
  keysOf,
  mask,
  type OAuthClients,
  ON_OFF,
  oauthClientsOf,
  PROXIES_FORM,
  type Prices,
  PUBLIC_PATH,
  PUBLIC_PATH_FORM,
  pricesOf,
  TOKEN,
  urlOf,
  wholeNumber,
} from './config-values.ts'

/** `data` in the project's folder, wherever a program is started. */
export const DATA_DIRECTORY = fileURLToPath(new URL('../../../data', import.meta.url))

/**
 * Everything that the environment can set. This is the only file that reads it; `.env.example` lists the same
 * variables (a test compares the two).
 */
export interface Config {
  port: number
  host: string
  publicUrl: string
  dataDirectory: string
  /** null: run the embedded PostgreSQL. */
  databaseUrl: string | null
  /** null: run the embedded ClickHouse (chDB). */
  clickhouseUrl: string | null
  /** Name of the ClickHouse cluster, null for a single server. */
  clickhouseCluster: string | null
  /** The installation whose lost events the operator accepts. */
  acceptLostEvents: string | null
  postgresPoolSize: number
  /** Memory for all ClickHouse reads together. */
  clickhouseReadMemoryMb: number
  logLevel: (typeof LOG_LEVELS)[number]
  /** null: words on a terminal, JSON elsewhere. */
  logFormat: (typeof LOG_FORMATS)[number] | null
  /** A table of addresses (.mmdb) in place of the one that is shipped, which has countries alone. */
  geoDatabase: string | null
  /** Number of proxies that each append their caller's address to X-Forwarded-For. */
  trustedProxies: number
  /** A connection is closed when its client has read nothing of its response for this long. */
  unreadResponseSeconds: number
  rateLimits: RateLimits | null
  /** null: off, with the others. */
  mailLimits: MailLimits | null
  /** Where pages load the script and send events, beside /tracker.js and /track. */
  trackerScriptPath: string
  trackerCollectPath: string
  /** A has_event_* filter that more contacts match is refused as too broad. */
  eventFilterContactsMax: number
  /** The first encrypts, all decrypt; empty: the key in the data directory. */
  secretKeys: Buffer[]
  /** Development and tests: webhooks may go to private addresses. */
  webhookAllowPrivate: boolean
  /** Where exports to folders are written, a folder per tenant; null: no destination can be a folder. */
  warehouseDirectory: string | null
  /** Exports may go to storage at private addresses, and without TLS. */
  warehouseAllowPrivate: boolean
  /** How long finished webhook deliveries are kept. */
  webhookRetentionDays: number
  /** Signs sessions and encrypts two-factor secrets; null: the service creates one. */
  authSecret: string | null
  /** An OpenID provider where people may sign in; null without one. */
  oidc: { issuer: string; clientId: string; clientSecret: string; label: string } | null
  /** The operator's OAuth clients at other services, for tenants without their own. */
  oauthClients: OAuthClients
  /** The mail server for invitations and password links, and their sender. */
  smtpUrl: string | null
  mailFrom: string
  /** Mail servers may have private addresses and any port. */
  mailAllowPrivate: boolean
  /** The hosted gateway that reaches the social network; null: a sandbox replaces it. */
  socialGateway: { url: string; token: string } | null
  /** How far back a new mailbox is read. */
  mailFirstSyncDays: number
  /** How often sent mails are read. The server announces received ones. */
  mailPollSeconds: number
  /** Mailboxes that one process reads at a time, divided among the tenants. */
  mailMailboxesMax: number
  /** How often a connected system is asked for changes. */
  pullMinutes: number
  llm: LlmConfig
}

/** The settings of language models. */
export interface LlmConfig {
  openaiApiKey: string | null
  anthropicApiKey: string | null
  /** Where OpenAI and Anthropic are called: their own servers, or a gateway in front of them. */
  openaiBaseUrl: string
  anthropicBaseUrl: string
  /** Sent to `baseUrl` alone. */
  apiKey: string | null
  /** An OpenAI-compatible server. */
  baseUrl: string | null
  /** For agents that name no model. */
  model: string | null
  prices: Prices
  /** Development and tests, or your own server: models may be at private addresses, and without TLS. */
  allowPrivate: boolean
}

export interface RateLimits {
  apiPerMinute: number
  downloadPerMinute: number
  invalidKeyPerIpPerMinute: number
  trackPerIpPerMinute: number
  trackPerTenantPerMinute: number
  sourcePerMinute: number
  hookPerMinute: number
  hookPerTenantPerMinute: number
  scriptPerIpPerMinute: number
  sharedPerIpPerMinute: number
  formPerIpPerMinute: number
  formPerPersonPerMinute: number
  formPerTenantPerMinute: number
  signInPerIpPerMinute: number
  signInPerPersonPerMinute: number
  signInElsewherePerMinute: number
  registrationPerIpPerMinute: number
}

/** Limits on the service's own mails. */
export interface MailLimits {
  invitationsPerAddressPerHour: number
  invitationsPerPersonPerHour: number
  invitationsPerTenantPerHour: number
  passwordLinksPerAddressPerHour: number
}

const CREDENTIAL_FORM = 'at most 1000 printable characters without spaces'
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const LOG_FORMATS = ['words', 'json'] as const

/** Thrown once at start with every wrong variable named. */
export class ConfigError extends Error {
  readonly code = 'invalid_configuration'
}

/** Reads and checks the configuration. @throws ConfigError naming every wrong value in one message. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const problems: string[] = []

  function read<T>(name: string, fallback: T, parse: (text: string) => T | undefined, expected: string): T {
    const text = environment[name]?.trim()
    if (text === undefined || text === '') return fallback
    const value = parse(text)
    if (value === undefined) problems.push(`${name} is ${JSON.stringify(mask(text))}, but must be ${expected}`)
    return value ?? fallback
  }
  const secret = <T>(name: string, fallback: T, parse: (text: string) => T | undefined, expected: string): T => {
    const value = parse(environment[name]?.trim() ?? '')
    // What is wrong with it must be said without repeating it.
    if (value === undefined) problems.push(`${name} must be ${expected}`)
    return value ?? fallback
  }
  const integer = (name: string, fallback: number, min: number, max: number) =>
    read(name, fallback, (text) => wholeNumber(text, min, max), `a whole number from ${min} to ${max}`)
  const text = (name: string, fallback: string) => read(name, fallback, (value) => value, 'a string')
  const onOff = (name: string, fallback: boolean) =>
    read(name, fallback, (value) => ON_OFF.get(value.toLowerCase()), 'on or off')
  const path = (name: string, fallback: string) =>
    read(name, fallback, (value) => (PUBLIC_PATH.test(value) ? value : undefined), PUBLIC_PATH_FORM)
  const url = (name: string, protocols: string[]) =>
    read<string | null>(name, null, (value) => urlOf(value, protocols), `a URL (${protocols.join(', ')})`)

  /** All of it or nothing: a provider that is half configured is a mistake. */
  const readOidc = (): Config['oidc'] => {
    const issuer = url('CDS_OIDC_ISSUER', ['http:', 'https:'])
    const [clientId, clientSecret] = [text('CDS_OIDC_CLIENT_ID', ''), text('CDS_OIDC_CLIENT_SECRET', '')]
    const label = text('CDS_OIDC_LABEL', 'single sign-on')
    if (issuer === null && clientId === '' && clientSecret === '') return null
    if (issuer !== null && clientId !== '' && clientSecret !== '') return { issuer, clientId, clientSecret, label }
    problems.push('CDS_OIDC_ISSUER, CDS_OIDC_CLIENT_ID and CDS_OIDC_CLIENT_SECRET must be set together')
    return null
  }
  /** null: nothing is connected outside; a sandbox replaces the network. */
  const socialGateway = (): Config['socialGateway'] => {
    const gatewayUrl = url('CDS_SOCIAL_GATEWAY_URL', ['https:'])
    const token = secret<string | null>(
      'CDS_SOCIAL_GATEWAY_TOKEN',
      null,
      (value) => (TOKEN.test(value) ? value || null : undefined),
      CREDENTIAL_FORM,
    )
    const connector = read(
      'CDS_SOCIAL_CONNECTOR',
      gatewayUrl === null ? 'sandbox' : 'http',
      (value) => ['sandbox', 'http'].find((each) => each === value),
      'sandbox or http',
    )
    if (connector === 'sandbox') return null
    if (gatewayUrl !== null && token !== null) return { url: gatewayUrl, token }
    problems.push('CDS_SOCIAL_CONNECTOR=http needs CDS_SOCIAL_GATEWAY_URL and CDS_SOCIAL_GATEWAY_TOKEN')
    return null
  }

  const port = integer('PORT', 8080, 0, 65_535)
  const rateLimitsOn = onOff('CDS_RATE_LIMITS', true)
  const limits = readRateLimits(integer)
  const mailLimits: MailLimits = {
    invitationsPerAddressPerHour: integer('CDS_RATE_LIMIT_INVITATIONS_PER_ADDRESS_PER_HOUR', 5, 1, 10_000),
    invitationsPerPersonPerHour: integer('CDS_RATE_LIMIT_INVITATIONS_PER_PERSON_PER_HOUR', 50, 1, 10_000),
    invitationsPerTenantPerHour: integer('CDS_RATE_LIMIT_INVITATIONS_PER_TENANT_PER_HOUR', 100, 1, 10_000),
    passwordLinksPerAddressPerHour: integer('CDS_RATE_LIMIT_PASSWORD_LINKS_PER_ADDRESS_PER_HOUR', 5, 1, 10_000),
  }
  const host = text('HOST', 'localhost')
  const publicUrl = (url('CDS_PUBLIC_URL', ['http:', 'https:']) ?? listenUrl(host, port)).replace(/\/+$/, '')
  const config: Config = {
    port,
    host,
    publicUrl,
    dataDirectory: text('CDS_DATA_DIR', DATA_DIRECTORY),
    databaseUrl: url('DATABASE_URL', ['postgres:', 'postgresql:']),
    clickhouseUrl: url('CLICKHOUSE_URL', ['http:', 'https:']),
    clickhouseCluster: read<string | null>(
      'CLICKHOUSE_CLUSTER',
      null,
      (value) => (/^[A-Za-z0-9_-]+$/.test(value) ? value : undefined),
      'a cluster name of letters, digits, _ and -',
    ),
    acceptLostEvents: read<string | null>(
      'CDS_ACCEPT_LOST_EVENTS',
      null,
      (value) => (/^[0-9a-f-]{36}$/.test(value) ? value : undefined),
      "the id that the service's message names",
    ),
    postgresPoolSize: integer('CDS_POSTGRES_POOL_SIZE', 16, 2, 1_000),
    clickhouseReadMemoryMb: integer('CDS_CLICKHOUSE_READ_MEMORY_MB', 4_000, 500, 1_000_000),
    logLevel: read(
      'CDS_LOG_LEVEL',
      'info',
      (value) => LOG_LEVELS.find((level) => level === value),
      `one of ${LOG_LEVELS.join(', ')}`,
    ),
    logFormat: read<Config['logFormat']>(
      'CDS_LOG',
      null,
      (value) => LOG_FORMATS.find((format) => format === value),
      LOG_FORMATS.join(' or '),
    ),
    trustedProxies: read('CDS_TRUST_PROXY', 0, (value) => wholeNumber(value, 0, 10), PROXIES_FORM),
    geoDatabase: read<string | null>('CDS_GEO_DATABASE', null, absolutePathOf, 'the absolute path of a file'),
    unreadResponseSeconds: integer('CDS_UNREAD_RESPONSE_SECONDS', 30, 1, 3_600),
    rateLimits: rateLimitsOn ? limits : null,
    mailLimits: rateLimitsOn ? mailLimits : null,
    trackerScriptPath: path('CDS_TRACKER_SCRIPT_PATH', '/tracker.js'),
    trackerCollectPath: path('CDS_TRACKER_COLLECT_PATH', '/track'),
    eventFilterContactsMax: integer('CDS_EVENT_FILTER_MAX_CONTACTS', 50_000, 1, 1_000_000),
    secretKeys: secret(
      'CDS_SECRET_KEY',
      [],
      keysOf,
      '32 random bytes in base64, or several such keys with commas between',
    ),
    webhookAllowPrivate: onOff('CDS_WEBHOOK_ALLOW_PRIVATE', false),
    warehouseDirectory: read<string | null>('CDS_WAREHOUSE_DIR', null, absolutePathOf, 'the absolute path of a folder'),
    warehouseAllowPrivate: onOff('CDS_WAREHOUSE_ALLOW_PRIVATE', false),
    webhookRetentionDays: integer('CDS_WEBHOOK_RETENTION_DAYS', 30, 1, 3_650),
    authSecret: secret<string | null>(
      'CDS_AUTH_SECRET',
      null,
      authSecretOf,
      'a random string of at least 32 characters',
    ),
    oidc: readOidc(),
    oauthClients: oauthClientsOf((name) => secret(name, null, keyOf, CREDENTIAL_FORM), problems),
    smtpUrl: secret<string | null>(
      'CDS_SMTP_URL',
      null,
      (value) => (value === '' ? null : urlOf(value, ['smtp:', 'smtps:'])),
      'a URL like smtps://user:password@mail.example.com',
    ),
    mailFrom: text('CDS_MAIL_FROM', `Customer Data Service <no-reply@${new URL(publicUrl).hostname}>`),
    mailAllowPrivate: onOff('CDS_MAIL_ALLOW_PRIVATE', false),
    socialGateway: socialGateway(),
    mailFirstSyncDays: integer('CDS_MAIL_FIRST_SYNC_DAYS', 90, 0, 3_650),
    mailPollSeconds: integer('CDS_MAIL_POLL_SECONDS', 60, 1, 3_600),
    mailMailboxesMax: integer('CDS_MAIL_MAILBOXES_MAX', 500, 1, 10_000),
    pullMinutes: integer('CDS_PULL_MINUTES', 10, 1, 1_440),
    llm: {
      openaiApiKey: secret('CDS_OPENAI_API_KEY', null, keyOf, 'an API key'),
      anthropicApiKey: secret('CDS_ANTHROPIC_API_KEY', null, keyOf, 'an API key'),
      openaiBaseUrl: url('CDS_OPENAI_BASE_URL', ['http:', 'https:']) ?? 'https://api.openai.com/v1',
      anthropicBaseUrl: url('CDS_ANTHROPIC_BASE_URL', ['http:', 'https:']) ?? 'https://api.anthropic.com/v1',
      apiKey: secret('CDS_LLM_API_KEY', null, keyOf, 'an API key'),
      baseUrl: url('CDS_LLM_BASE_URL', ['http:', 'https:']),
      model: read<string | null>('CDS_LLM_MODEL', null, (value) => value, 'the name of a model'),
      prices: read('CDS_LLM_PRICES', {}, pricesOf, 'JSON like {"my-model": {"input": 0.5, "output": 2}}'),
      allowPrivate: onOff('CDS_LLM_ALLOW_PRIVATE', false),
    },
  }
  if (config.clickhouseCluster !== null && config.clickhouseUrl === null) {
    problems.push('CLICKHOUSE_CLUSTER needs CLICKHOUSE_URL, the address of a server of that cluster')
  }
  if (problems.length > 0) throw new ConfigError(`The configuration is not valid:\n  ${problems.join('\n  ')}`)
  return config
}

function readRateLimits(integer: (name: string, fallback: number, min: number, max: number) => number): RateLimits {
  return {
    apiPerMinute: integer('CDS_RATE_LIMIT_API_PER_MINUTE', 6_000, 1, 10_000_000),
    downloadPerMinute: integer('CDS_RATE_LIMIT_DOWNLOAD_PER_MINUTE', 20, 1, 10_000_000),
    invalidKeyPerIpPerMinute: integer('CDS_RATE_LIMIT_INVALID_KEY_PER_IP_PER_MINUTE', 60, 1, 10_000_000),
    trackPerIpPerMinute: integer('CDS_RATE_LIMIT_TRACK_PER_IP_PER_MINUTE', 6_000, 1, 10_000_000),
    trackPerTenantPerMinute: integer('CDS_RATE_LIMIT_TRACK_PER_TENANT_PER_MINUTE', 600_000, 1, 100_000_000),
    sourcePerMinute: integer('CDS_RATE_LIMIT_SOURCE_PER_MINUTE', 600_000, 1, 100_000_000),
    hookPerMinute: integer('CDS_RATE_LIMIT_HOOK_PER_MINUTE', 3_000, 1, 10_000_000),
    hookPerTenantPerMinute: integer('CDS_RATE_LIMIT_HOOK_PER_TENANT_PER_MINUTE', 6_000, 1, 10_000_000),
    scriptPerIpPerMinute: integer('CDS_RATE_LIMIT_SCRIPT_PER_IP_PER_MINUTE', 600, 1, 10_000_000),
    sharedPerIpPerMinute: integer('CDS_RATE_LIMIT_SHARED_PER_IP_PER_MINUTE', 300, 1, 10_000_000),
    formPerIpPerMinute: integer('CDS_RATE_LIMIT_FORM_PER_IP_PER_MINUTE', 20, 1, 10_000_000),
    formPerPersonPerMinute: integer('CDS_RATE_LIMIT_FORM_PER_PERSON_PER_MINUTE', 5, 1, 10_000_000),
    formPerTenantPerMinute: integer('CDS_RATE_LIMIT_FORM_PER_TENANT_PER_MINUTE', 600, 1, 10_000_000),
    signInPerIpPerMinute: integer('CDS_RATE_LIMIT_SIGN_IN_PER_IP_PER_MINUTE', 30, 1, 10_000_000),
    signInPerPersonPerMinute: integer('CDS_RATE_LIMIT_SIGN_IN_PER_PERSON_PER_MINUTE', 5, 1, 10_000_000),
    signInElsewherePerMinute: integer('CDS_RATE_LIMIT_SIGN_IN_ELSEWHERE_PER_MINUTE', 20, 1, 10_000_000),
    registrationPerIpPerMinute: integer('CDS_RATE_LIMIT_REGISTRATION_PER_IP_PER_MINUTE', 30, 1, 10_000_000),
  }
}

/** The URL of a service on its own machine. */
export function listenUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
