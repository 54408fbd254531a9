import { hasMoreCharacters } from '../platform/characters.ts'
import { type Role, rolesOf } from './consent-words.ts'

/**
 * How a name speaks of consent. `opted_out` and `bounced`: any value counts unless it clearly says no. `agreed`: any value
 * but a clear agreement is an opt-out. `blocked` and `bounces` need a clear yes. `allowed`, `marketing_status` and
 * `deliverable` need a clear no or a refusal, because such names hold other things too: a newsletter is `no` or `weekly`.
 * `other` is about calls and texts, and does not stop mail. `withdrawn` occurs only in values.
 */
export type Kind =
  | 'opted_out'
  | 'bounced'
  | 'agreed'
  | 'blocked'
  | 'bounces'
  | 'allowed'
  | 'marketing_status'
  | 'deliverable'
  | 'status'
  | 'tags'
  | 'other'
  | 'withdrawn'

/** What a text says of consent, and whether it has no word that the service does not know. */
export interface Phrase {
  kind: Kind | null
  isExact: boolean
}

const NOTHING: Phrase = { kind: null, isExact: false }

/** A tenant has few names of properties, which all of its contacts have in common. */
const PHRASES_KEPT_MAX = 20_000
/** No property has a longer name, but the header of a file may. */
const LENGTH_MAX = 128
const phrases = new Map<string, Phrase>()

/** What a name says. The last results are kept. */
export function phraseOfName(name: string): Phrase {
  const known = phrases.get(name)
  if (known !== undefined) return known
  if (hasMoreCharacters(name, LENGTH_MAX)) return NOTHING
  const phrase = phraseOfValue(name)
  if (phrases.size >= PHRASES_KEPT_MAX) phrases.clear()
  phrases.set(name, phrase)
  return phrase
}

/** What a short value says. It is not kept: a value is often a slice, which keeps the whole text in memory. */
export function phraseOfValue(text: string): Phrase {
  // "No. Emails" is how many there are.
  if (hasMoreCharacters(text, LENGTH_MAX) || /^(?:no\.|nr|num|n[°º])[^\p{L}]/iu.test(text)) return NOTHING
  const roles = rolesOf(text)
  if (!PATH.test(text)) return judge(roles, false)
  const phrase = judge(roles, true)
  return phrase.kind === null && !roles.includes('elsewhere') ? phraseAfterPath(text) : phrase
}

type Roles = readonly (Role | null)[]

const NEUTRAL: ReadonlySet<Role | null> = new Set<Role>([
  'filler',
  'detail',
  'preferences',
  'subscription',
  'list',
  'checked',
  'campaign',
  'address',
  'status',
  'tags',
])
const MAIL: ReadonlySet<Role | null> = new Set<Role>(['mail', 'mailing', 'newsletter', 'marketing'])
const AGREEMENT: ReadonlySet<Role | null> = new Set<Role>(['agree', 'opted_in', 'mailable'])
const OPT_OUT: ReadonlySet<Role | null> = new Set<Role>(['out', 'complained', 'bounced', 'listed'])

/** `acme__Blacklisted__c` and `acme.blacklisted`: what stands before may be any word. */
const PATH = /(?<=\p{L})(?:\.|:|__|\[|\s-\s)/u

/** What follows a path, such as `acme.accepts_marketing`. Only what is clear counts: `photo.consent` is about something else. */
function phraseAfterPath(text: string): Phrase {
  const parts = text.split(PATH).map(rolesOf)
  const roles = parts.slice(parts.findLastIndex((part) => part.includes(null)) + 1).flat()
  const { kind } = judge(roles, false)
  // `acme.no_emails` may be a number.
  const isOptOut = kind === 'opted_out' && (roles.includes('newsletter') || roles.includes('marketing'))
  return kind === 'agreed' || isOptOut ? { kind, isExact: false } : NOTHING
}

function judge(roles: Roles, isPath: boolean): Phrase {
  if (roles.every((role) => role === null || NEUTRAL.has(role)) && !roles.some(isVague)) return NOTHING
  const has = (...wanted: Role[]) => wanted.some((role) => roles.includes(role))
  const isAboutMail = has('mail', 'newsletter')
  if (has('elsewhere') && !isAboutMail) return NOTHING
  const found = negated(roles) ?? optOutIn(roles, isPath) ?? agreementIn(roles) ?? vagueIn(roles)
  if (found === null) return NOTHING
  const { kind, head, isExact } = found
  // `unsubscribe_url` is not an opt-out, and `consent_date` neither consent nor the lack of it.
  const isOptOut = kind === 'opted_out' || kind === 'bounced'
  const after = roles.slice(head + 1)
  if (after.includes('thing')) return NOTHING
  if (has('other') && !isAboutMail) return { kind: 'other', isExact }
  if (!isOptOut && after.includes('detail')) return NOTHING
  return { kind, isExact }
}

interface Found {
  kind: Kind
  /** The index of the word that decides. */
  head: number
  isExact: boolean
}

function isVague(role: Role | null): boolean {
  return role === 'status' || role === 'tags' || role === 'subscription'
}

/** Whether all words are known, and those of `wanted` or neutral. A record's name may come first: `Contact: Blacklisted`. */
function areOnly(roles: Roles, ...wanted: Role[]): boolean {
  const start = roles.findIndex((role) => role !== 'filler' && role !== 'contact')
  return roles.every(
    (role, at) => role !== null && (NEUTRAL.has(role) || wanted.includes(role) || (at < start && role === 'contact')),
  )
}

const NEGATIONS: ReadonlySet<Role> = new Set<Role>(['do_not', 'no', 'not'])

/** "Do not email", "no newsletter", "not subscribed", "Werbung nicht erlaubt"; "never bounced" is the opposite. */
function negated(roles: Roles): Found | null {
  const at = roles.findIndex((role) => role !== null && NEGATIONS.has(role))
  if (at === -1) return null
  const isExact = !roles.includes(null)
  const optOut = (head: number): Found => ({ kind: 'opted_out', head, isExact })
  let isAsked = false
  for (const [index, role] of [...roles.entries()].slice(at + 1)) {
    if (AGREEMENT.has(role)) return optOut(index)
    if (OPT_OUT.has(role)) return { kind: 'allowed', head: index, isExact }
    if (roles[at] === 'not' && MAIL.has(role)) continue
    if (role === 'contacted' && !isAsked) return null
    if (MAIL.has(role) || role === 'contact' || role === 'contacted' || role === 'other') {
      if (roles[at] === 'not' && index > at + 1) return null
      // "No email address" is a contact without one. An unknown word may be what there is none of.
      const isClear = roles[at] === 'do_not' || (isExact && !roles.includes('address'))
      return isClear ? optOut(index) : null
    }
    if (role === 'may' || role === 'like' || role === 'send') isAsked = true
    else if (role !== 'filler' && (role === null || !NEGATIONS.has(role))) return null
  }
  if (!isAsked || !isExact) return null
  if (roles.some((role) => MAIL.has(role) || AGREEMENT.has(role))) return optOut(at)
  return { kind: 'withdrawn', head: at, isExact }
}

function optOutIn(roles: Roles, isPath: boolean): Found | null {
  const find = (...wanted: Role[]) => roles.findIndex((role) => role !== null && wanted.includes(role))
  const has = (...wanted: Role[]) => find(...wanted) !== -1
  const isExact = !roles.includes(null)
  if (has('withdrawn') && has('agree', 'opted_in', 'gdpr')) {
    return { kind: 'opted_out', head: find('withdrawn'), isExact }
  }
  const clear = find('out', 'complained')
  if (clear !== -1) return { kind: 'opted_out', head: clear, isExact }
  if (has('soft')) return null
  const bounced = find('bounced')
  if (bounced !== -1) return { kind: 'bounced', head: bounced, isExact }
  // Among other words than these, they are about something else.
  const about = ['mail', 'mailing', 'newsletter', 'marketing', 'contact', 'gdpr', 'other'] as const
  for (const [kind, role, beside] of ONLY_AMONG_KNOWN) {
    const head = find(role)
    if (head === -1 || (beside && !has(...beside))) continue
    const last = kind === 'opted_out' && isPath ? roles.slice(roles.lastIndexOf(null) + 1) : roles
    if (last.includes(role) && areOnly(last, role, ...about)) return { kind, head, isExact }
  }
  return null
}

/** Kinds by a word, and one of the words that must be beside it. */
const ONLY_AMONG_KNOWN: readonly (readonly [Kind, Role, readonly Role[] | null])[] = [
  ['opted_out', 'listed', null],
  ['opted_out', 'disabled', ['mail', 'mailing', 'newsletter', 'marketing']],
  ['opted_out', 'excluded', ['mail', 'mailing', 'newsletter', 'marketing', 'campaign']],
  ['opted_out', 'flag', ['mail', 'mailing', 'newsletter', 'marketing']],
  ['bounced', 'cleaned', null],
  ['bounced', 'bounce', ['detail']],
  ['bounced', 'bad', ['mail']],
  ['bounces', 'bounce', null],
  ['blocked', 'flag', null],
]

function agreementIn(roles: Roles): Found | null {
  const find = (...wanted: Role[]) => roles.findIndex((role) => role !== null && wanted.includes(role))
  const has = (...wanted: Role[]) => find(...wanted) !== -1
  const isAboutMail = has('mail', 'mailing', 'newsletter', 'marketing', 'gdpr', 'send', 'other') || isContacted(roles)
  const about = ['mail', 'mailing', 'newsletter', 'marketing', 'gdpr', 'send', 'contact', 'contacted', 'other'] as const
  const isExact = areOnly(roles, 'agree', 'opted_in', 'may', 'like', ...about)
  const agreed = find('agree', 'opted_in')
  if (agreed !== -1) {
    if (!isExact) return isAboutMail ? { kind: 'allowed', head: agreed, isExact } : null
    return { kind: isAboutMail || has('opted_in') ? 'agreed' : 'allowed', head: agreed, isExact }
  }
  if (!isExact) return null
  // The newsletter of May.
  if (roles[0] === 'may' && roles[1] === 'newsletter') return { kind: 'allowed', head: 1, isExact }
  // What concerns calls or notifications alone is no consent: `push_enabled`.
  if (has('may', 'like', 'send') && (has('mail', 'mailing', 'newsletter', 'marketing') || isContacted(roles))) {
    const head = Math.max(find('may'), find('like'), find('send'))
    return { kind: has('may') || (has('send') && has('marketing')) ? 'agreed' : 'allowed', head, isExact }
  }
  const status = find('status')
  if (status === -1 || !areOnly(roles, 'mail', 'mailing', 'marketing', 'newsletter', 'gdpr')) return null
  if (has('subscription') && has('mail', 'mailing', 'newsletter')) return { kind: 'agreed', head: status, isExact }
  // `Marketing Status` is also how far a lead is.
  return has('marketing') ? { kind: 'marketing_status', head: status, isExact } : null
}

/** Whether "contact" is what one may do, rather than the name of the record. */
function isContacted(roles: Roles): boolean {
  const asked = roles.findIndex((role) => role === 'may' || role === 'like' || role === 'agree')
  return roles.includes('contacted') || roles.lastIndexOf('contact') > asked
}

/** Names that may also mean something else. */
function vagueIn(roles: Roles): Found | null {
  const has = (...wanted: Role[]) => wanted.some((role) => roles.includes(role))
  const found = (kind: Kind, role: Role): Found => ({ kind, head: roles.indexOf(role), isExact: true })
  if (has('withdrawn') && areOnly(roles, 'withdrawn')) return found('withdrawn', 'withdrawn')
  if (has('mailable') && areOnly(roles, 'mailable')) return found('allowed', 'mailable')
  if (has('good') && has('mail') && areOnly(roles, 'good', 'mail')) return found('deliverable', 'good')
  if (!areOnly(roles, 'mail', 'mailing', 'newsletter', 'marketing', 'gdpr')) return null
  if (has('newsletter')) return found('allowed', 'newsletter')
  if (has('gdpr') && has('status')) return found('allowed', 'gdpr')
  if (has('marketing') && has('mail', 'preferences')) return found('allowed', 'marketing')
  if (has('mail') && has('status')) return found(has('subscription', 'list') ? 'status' : 'deliverable', 'status')
  if (has('mail') && has('subscription')) return found('status', 'subscription')
  if (has('mail') && has('campaign')) return found('status', 'campaign')
  // `MailingState` is a part of an address, and may be Nebraska: NE.
  if (has('mail', 'marketing', 'gdpr') || (has('mailing') && !has('status'))) return null
  if (has('status')) return found('status', 'status')
  return has('tags') ? found('tags', 'tags') : null
}
