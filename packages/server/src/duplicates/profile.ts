/** Where the path of a person's page begins, by site. Other pages there are of companies, groups and posts. */
const SITES: Readonly<Record<string, RegExp>> = {
  'linkedin.com': /^\/(?:in|pub)\/([^/]+)/,
  'xing.com': /^\/profile\/([^/]+)/,
  'x.com': /^\/(?!(?:home|search|i|intent|share|hashtag)(?:\/|$))(\w+)\/?$/,
  'github.com': /^\/(?!(?:orgs|topics|search)\/)([^/]+)\/?$/,
  'instagram.com': /^\/(?!(?:p|explore|reel)\/)([^/]+)\/?$/,
  'facebook.com': /^\/(?!(?:pages|groups|sharer|events|profile\.php)(?:\/|$))([^/]+)\/?$/,
}
const ALSO: Readonly<Record<string, string>> = { 'twitter.com': 'x.com', 'fb.com': 'facebook.com' }
/** Properties whose value may be a handle without a URL. */
const HANDLES: readonly [RegExp, string][] = [
  [/twitter/i, 'x.com'],
  [/github/i, 'github.com'],
  [/instagram/i, 'instagram.com'],
]
const HANDLE = /^@?([\w.-]{2,50})$/

/** A person's profile at another site. */
export interface Profile {
  site: string
  name: string
}

/** @param property whose value the text is. @returns null if the text is no person's profile. */
export function parseProfile(property: string, text: string): Profile | null {
  const written = text.trim().toLowerCase()
  const [, handle] = HANDLE.exec(written) ?? []
  const ofHandle = HANDLES.find(([names]) => names.test(property))?.[1]
  if (handle !== undefined && ofHandle !== undefined) return { site: ofHandle, name: handle }
  const url = URL.parse(/^https?:\/\//.test(written) ? written : `https://${written}`)
  if (url === null) return null
  // Subdomains are languages: de.linkedin.com.
  const host = url.hostname.split('.').slice(-2).join('.')
  const site = ALSO[host] ?? host
  const [, name] = (Object.hasOwn(SITES, site) && SITES[site]?.exec(readable(url.pathname))) || []
  return name === undefined ? null : { site, name }
}

function readable(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
