import { type AnswerMapping, requireMapping } from '../../hooks/mapping.ts'
import { type ErrorDetail, validationError } from '../../platform/errors.ts'
import type { Outbound } from '../../platform/outbound/client.ts'
import { replaceVariables } from '../../platform/templates.ts'
import { checkHeaders } from '../../webhooks/custom-headers.ts'
import { kindOf, type ProviderKindName, type RequestTemplate } from './kinds.ts'
import { type definitionOf, fillableOf } from './provider-object.ts'
import { problemOfTemplate, secretNamesIn } from './question.ts'
import type { Secrets } from './secrets.ts'

/** Settings of a provider that can be changed. */
export interface ProviderSettings {
  name?: string | undefined
  enabled?: boolean | undefined
  url?: string | undefined
  headers?: RequestTemplate['headers'] | undefined
  mapping?: AnswerMapping | undefined
  /** null: all that the mapping has. */
  fills?: string[] | null | undefined
  /** By name; null removes one. Those that are left out stay. */
  secrets?: Record<string, string | null> | undefined
  monthly_budget?: number | null | undefined
  requests_per_minute?: number | undefined
  cache_days?: number | undefined
}

/** Checks the URL of a provider, and that its host is a public one. @throws ServiceError 400, RefusedAddress */
export async function checkUrlTemplate(outbound: Pick<Outbound, 'check'>, url: string): Promise<void> {
  const details = problemsOfUrl(url)
  if (details.length > 0) throw validationError(details)
  await outbound.check(addressOf(url))
}

/** The URL without its variables, which are behind the host. */
function addressOf(url: string): string {
  return replaceVariables(url, () => 'x')
}

/** The request and the mapping of a provider that has its own; null for a kind with fixed ones. @throws ServiceError 400 */
export function ownDefinition(
  kind: ProviderKindName,
  settings: ProviderSettings,
  before: ReturnType<typeof definitionOf> | null,
): { request: RequestTemplate; mapping: AnswerMapping } | null {
  const fields = ['url', 'headers', 'mapping'] as const
  if (kindOf(kind).fixed !== null) {
    const details = fields.flatMap((path) =>
      settings[path] === undefined ? [] : [{ path, message: `is fixed for the kind ${kind}. Leave it out` }],
    )
    if (details.length > 0) throw validationError(details)
    return null
  }
  const { url = before?.request.url, headers = before?.request.headers ?? [], mapping = before?.mapping } = settings
  const details: ErrorDetail[] = []
  if (url === undefined) details.push({ path: 'url', message: 'is required for the kind http' })
  if (mapping === undefined) details.push({ path: 'mapping', message: 'is required for the kind http' })
  if (url === undefined || mapping === undefined) throw validationError(details)
  details.push(...problemsOfUrl(url))
  for (const [index, { value }] of headers.entries()) {
    const message = problemOfTemplate(value)
    if (message !== null) details.push({ path: `headers[${index}].value`, message })
  }
  if (Object.hasOwn(mapping.contact?.properties ?? {}, 'email')) {
    details.push({
      path: 'mapping.contact.properties.email',
      message: 'cannot be filled: contacts are identified by it',
    })
  }
  if (fillableOf(mapping).length === 0) details.push({ path: 'mapping', message: 'must fill something' })
  if (details.length > 0) throw validationError(details)
  checkHeaders(headers)
  requireMapping(mapping)
  return { request: { url, headers }, mapping }
}

function problemsOfUrl(url: string): ErrorDetail[] {
  const problem = problemOfTemplate(url)
  if (problem !== null) return [{ path: 'url', message: problem }]
  const host = url.slice(0, url.indexOf('{{') === -1 ? undefined : url.indexOf('{{'))
  // A value of a contact must not choose the system that gets the secrets.
  if (!/^https:\/\/[^/?#\\{}]+[/?#]/.test(host) && !/^https:\/\/[^/?#\\{}]+$/.test(url)) {
    return [{ path: 'url', message: 'must begin with https:// and a host, and have variables only behind the host' }]
  }
  return []
}

/** @throws ServiceError 400 for secrets that the request needs and the provider lacks */
export function requireSecrets(request: RequestTemplate, secrets: Secrets): void {
  const missing = secretNamesIn(request).filter((name) => !Object.hasOwn(secrets, name))
  if (missing.length === 0) return
  throw validationError(missing.map((name) => ({ path: `secrets.${name}`, message: 'is required by the request' })))
}

/**
 * A secret that is kept goes to the system that it was given for, and to no other.
 * @throws ServiceError 400 if a new host would get one
 */
export function requireSecretsForHost(
  before: RequestTemplate,
  after: RequestTemplate,
  known: Secrets,
  sent: Readonly<Record<string, string | null>>,
): void {
  const originOf = ({ url }: RequestTemplate) => new URL(addressOf(url)).origin
  if (originOf(before) === originOf(after)) return
  const kept = Object.keys(known).filter((name) => !Object.hasOwn(sent, name))
  if (kept.length === 0) return
  const message = 'must be sent again, or removed with null, because the URL has another host'
  throw validationError(kept.map((name) => ({ path: `secrets.${name}`, message })))
}

export function requireFills(mapping: AnswerMapping, fills: readonly string[] | null | undefined): void {
  const all = fillableOf(mapping)
  const unknown = (fills ?? []).find((name) => !all.includes(name))
  if (unknown === undefined) return
  throw validationError([
    { path: 'fills', message: `has a name that the mapping does not fill. Use ${all.join(', ')}` },
  ])
}
