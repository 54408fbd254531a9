import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { CustomHeader } from './custom-headers.ts'

/** The columns of a URL. That of a chat channel is a secret, because anyone who knows it can post there. */
export function urlColumns(tenant: Tenant, secrets: SecretBox, subscriptionId: string, format: string, url: string) {
  const { href, origin } = new URL(url)
  if (format !== 'slack') return { url: href, url_sealed: null }
  return { url: `${origin}/…`, url_sealed: secrets.seal(href, urlPlace(tenant.id, subscriptionId)) }
}

/** The columns of custom headers, whose values are secrets. */
export function headerColumns(
  tenant: Tenant,
  secrets: SecretBox,
  subscriptionId: string,
  headers: readonly CustomHeader[],
) {
  const sealed =
    headers.length === 0 ? null : secrets.seal(JSON.stringify(headers), headersPlace(tenant.id, subscriptionId))
  return { header_names: headers.map(({ name }) => name), headers_sealed: sealed }
}

/** The place that a subscription's secrets are sealed for; they cannot be opened for another. */
export function secretPlace(tenantId: string, subscriptionId: string): string {
  return `${tenantId}/${subscriptionId}/secret`
}

/** The place that a subscription's URL is sealed for. */
export function urlPlace(tenantId: string, subscriptionId: string): string {
  return `${tenantId}/${subscriptionId}/url`
}

/** The whole URL of a subscription. */
export function openUrl(
  secrets: SecretBox,
  {
    tenantId,
    subscriptionId,
    url,
    urlSealed,
  }: { tenantId: string; subscriptionId: string; url: string; urlSealed: string | null },
): string {
  return urlSealed === null ? url : secrets.open(urlSealed, urlPlace(tenantId, subscriptionId))
}

/** The URL to store in place of another; undefined if it is the same. */
export function changedUrl(
  { id: tenantId }: Tenant,
  secrets: SecretBox,
  { subscription_id: subscriptionId, url, url_sealed: urlSealed }: Before,
  sent: string,
): string | undefined {
  const { href } = new URL(sent)
  // A caller may send back a URL as it was shown, which is only the beginning of a chat channel's.
  if (href === new URL(url).href) return undefined
  try {
    return href === openUrl(secrets, { tenantId, subscriptionId, url, urlSealed }) ? undefined : href
  } catch {
    // The key is lost, for example after a backup was restored. A new URL is the remedy.
    return href
  }
}

interface Before {
  subscription_id: string
  url: string
  url_sealed: string | null
}

/** The place that a subscription's headers are sealed for. */
export function headersPlace(tenantId: string, subscriptionId: string): string {
  return `${tenantId}/${subscriptionId}/headers`
}
