import type { SitePages } from '../platform/outbound/site-pages.ts'
import type { LookUpTxt } from '../platform/outbound/txt-records.ts'

/** The ways in which a domain is proven to be a tenant's. The first three are proofs that its owner publishes. */
export type Proof = PublishedProof | 'local' | 'operator'
export type PublishedProof = (typeof PUBLISHED)[number]
export const PUBLISHED = ['dns', 'file', 'meta'] as const
export const PROOFS = [...PUBLISHED, 'local', 'operator'] as const

/** What was found in one place. `unreachable`: DNS or the site did not respond, or responded with an error. */
export interface Attempt {
  method: PublishedProof
  outcome: 'found' | 'nothing' | 'other_value' | 'unreachable'
  /** The values found there, each truncated. */
  found: string[]
}

export interface ProofServices {
  lookUpTxt: LookUpTxt
  sitePages: Pick<SitePages, 'read'>
}

const TXT_PREFIX = '_cds-verification'
const FILE_PATH = '/.well-known/cds-verification.txt'
const META_NAME = 'cds-verification'
const FILE_BYTES_MAX = 1_024
/** The tag must be in the head, which is at the beginning. */
const PAGE_BYTES_MAX = 256 * 1_024
const SHOWN_VALUES_MAX = 10
const SHOWN_LENGTH_MAX = 300

/** Where a domain's owner may publish its value: in one of these places. */
export function placesOf(domain: string, value: string) {
  return {
    txt_name: `${TXT_PREFIX}.${domain}`,
    txt_value: value,
    file_url: `https://${domain}${FILE_PATH}`,
    file_content: value,
    meta_tag: `<meta name="${META_NAME}" content="${value}">`,
  }
}

/** Looks for the value in all three places. */
export function findProofs(services: ProofServices, domain: string, value: string): Promise<Attempt[]> {
  return Promise.all([
    inDns(services, domain).then((values) => attemptOf('dns', values, value)),
    inFile(services, domain).then((values) => attemptOf('file', values, value)),
    inHomePage(services, domain).then((values) => attemptOf('meta', values, value)),
  ])
}

async function inDns({ lookUpTxt }: ProofServices, domain: string): Promise<string[] | null> {
  return lookUpTxt(`${TXT_PREFIX}.${domain}`)
}

async function inFile({ sitePages }: ProofServices, domain: string): Promise<string[] | null> {
  const text = await sitePages.read(domain, FILE_PATH, FILE_BYTES_MAX)
  return text === null ? null : [text]
}

async function inHomePage({ sitePages }: ProofServices, domain: string): Promise<string[] | null> {
  const html = await sitePages.read(domain, '/', PAGE_BYTES_MAX)
  return html === null ? null : metaValues(html)
}

function attemptOf(method: PublishedProof, values: string[] | null, value: string): Attempt {
  if (values === null) return { method, outcome: 'unreachable', found: [] }
  const found = values.slice(0, SHOWN_VALUES_MAX).map((text) => text.trim().slice(0, SHOWN_LENGTH_MAX).toWellFormed())
  if (values.some((text) => text.trim() === value)) return { method, outcome: 'found', found }
  return { method, outcome: values.length === 0 ? 'nothing' : 'other_value', found }
}

/** The contents of our tags in the head of a page. Its body does not count: visitors may write there. */
function metaValues(html: string): string[] {
  const [head = ''] = html.replaceAll(/<!--[\s\S]*?(-->|$)/g, '').split(/<\/head|<body/i)
  return [...head.matchAll(/<meta\s([^>]*)>/gi)].flatMap(([, attributes = '']) =>
    attribute(attributes, 'name')?.toLowerCase() === META_NAME ? [attribute(attributes, 'content') ?? ''] : [],
  )
}

function attribute(attributes: string, name: string): string | undefined {
  const match = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'/]+))`, 'i').exec(attributes)
  return match?.[1] ?? match?.[2] ?? match?.[3]
}
