import type { ContactRow } from '../contact-row.ts'
import type { ContactSet, ContactState } from './contact-set.ts'
import { isUnverified } from './source-trust.ts'

/**
 * The trust level of an identification. `verified`: it came with an API key. `signed`: it came from a page with a hash
 * that only the tenant's server can make, of the user id, else of the email. `unverified`: it came from a page without
 * such a hash.
 */
export type Trust = 'verified' | 'signed' | 'unverified'

/** The keys of an identification, and how far they are trusted. */
export interface SentKeys {
  email: string | null
  userId: string | null
  trust: Trust
}

/** A contact that was found by one of its keys, or by one of a contact that was merged into it. */
export interface KeyedContact extends ContactRow {
  state: ContactState
}

/** The contacts with the sent email and user id; they may be the same. */
export interface Known {
  byEmail: KeyedContact | undefined
  byUserId: KeyedContact | undefined
}

/** The result of an identification. */
export interface Resolution {
  /** null: a new contact. */
  contact: KeyedContact | null
  /** Whether the contact gets or keeps the user id permanently (`firm`) or until a verified identification (`provisional`). */
  userId: 'unchanged' | 'provisional' | 'firm'
  /** The contact that loses the user id, which only a page had sent. */
  loser: KeyedContact | null
  /** The contact that loses the sent email, which only a page had set. */
  emailLoser: KeyedContact | null
  /** The email to set on a contact without one, or to confirm. */
  email: string | null
  /** Whether only a page has sent the email, even if the user id is verified. */
  isEmailUnproven: boolean
  /** Whether the sent email is ignored. */
  isEmailLeftOut: boolean
  /** The trust level for writing the properties. */
  trust: Trust
}

const NOTHING = {
  userId: 'unchanged',
  loser: null,
  emailLoser: null,
  email: null,
  isEmailUnproven: false,
  isEmailLeftOut: false,
} as const

/** Finds the contacts with the keys of an identification. */
export function findKnown(set: ContactSet, { email, userId }: SentKeys): Known {
  return asOne({ byEmail: keyed(set, 'email', email), byUserId: keyed(set, 'external_id', userId) })
}

/** People merged the two, so the keys of a merged contact count as verified. */
function keyed(set: ContactSet, key: 'email' | 'external_id', value: string | null): KeyedContact | undefined {
  const state = set.find(key, value)
  if (!state || value === null) return undefined
  if (!set.isMerged(key, value)) return { ...state.row, state }
  const provenance = state.row.properties_provenance as Record<string, unknown>
  return {
    ...state.row,
    [key]: value,
    ...(key === 'external_id' ? { external_id_provisional: false } : {}),
    properties_provenance: { ...provenance, email: { source: 'manual', updated_at: '' } },
    state,
  }
}

/** The keys of a merged contact and of the survivor lead to the same contact, which then has both. */
function asOne({ byEmail, byUserId }: Known): Known {
  if (!byEmail || !byUserId || byEmail.state !== byUserId.state) return { byEmail, byUserId }
  const { external_id, external_id_provisional } = byUserId
  const both = { ...byUserId, ...byEmail, external_id, external_id_provisional }
  return { byEmail: both, byUserId: both }
}

/**
 * Finds the identified contact. Email is the strongest key, then the user id. A contact's email and user id never
 * change, except that a verified identification overrides a page.
 */
export function resolveContact(keys: SentKeys, known: Known): Resolution {
  if (keys.trust === 'unverified') return resolveUnverified(keys, known)
  return keys.trust === 'signed' && keys.userId !== null && keys.email !== null
    ? resolveSigned({ ...keys, userId: keys.userId, email: keys.email }, known)
    : resolveVerified(keys, known)
}

function resolveUnverified({ email, userId }: SentKeys, { byEmail, byUserId }: Known): Resolution {
  const base = { ...NOTHING, trust: 'unverified' } as const
  const freeUserId = userId !== null && !byUserId ? 'provisional' : 'unchanged'
  if (byEmail) return { ...base, contact: byEmail, userId: byEmail.external_id === null ? freeUserId : 'unchanged' }
  // A contact with only a user id that now gets its email.
  if (byUserId && (email === null || byUserId.email === null)) return { ...base, contact: byUserId, email }
  return { ...base, contact: null, userId: freeUserId, email }
}

function resolveVerified(keys: SentKeys, { byEmail, byUserId }: Known): Resolution {
  const { email, userId, trust } = keys
  if (byEmail && isEmailProvisional(byEmail) && byEmail.external_id !== userId) {
    return { ...resolveVerified(keys, { byEmail: undefined, byUserId }), emailLoser: byEmail }
  }
  const proven = { ...NOTHING, trust }
  const loser = byUserId && byUserId !== byEmail && isUnconfirmed(byUserId) ? byUserId : null
  const isFree = userId !== null && (!byUserId || loser !== null)
  if (byEmail) {
    const hasIt = userId !== null && byEmail.external_id === userId
    const getsIt = isFree && (byEmail.external_id === null || byEmail.external_id_provisional)
    const confirmed = isEmailFromPage(byEmail) ? byEmail.email : null
    return { ...proven, contact: byEmail, userId: hasIt || getsIt ? 'firm' : 'unchanged', loser, email: confirmed }
  }
  if (byUserId?.email === null) return { ...proven, contact: byUserId, userId: 'firm', email }
  // Without an email, nothing contradicts a page that has sent both. But a page must not make the tenant's systems
  // write to a contact that was identified in another way.
  const isOwnOfPages = !byUserId?.external_id_provisional || isEmailFromPage(byUserId)
  if (byUserId && email === null && isOwnOfPages) return { ...proven, contact: byUserId }
  return { ...proven, contact: null, userId: isFree ? 'firm' : 'unchanged', loser, email }
}

/**
 * The hash covers only the user id, so a signed-in user can send any email with it. The email never selects a
 * contact that the user id does not; otherwise the identification counts as unverified.
 */
function resolveSigned(keys: SentKeys & { userId: string; email: string }, known: Known): Resolution {
  const { email } = keys
  const { byEmail, byUserId } = known
  const proven = { ...NOTHING, trust: 'signed', userId: 'firm', isEmailUnproven: true } as const
  if (byUserId && !byUserId.external_id_provisional) {
    const isBlank = byUserId.email === null && !byEmail
    const isEmailLeftOut = !isBlank && byUserId.email !== email
    return { ...proven, contact: byUserId, email: isBlank ? email : null, isEmailLeftOut }
  }
  if (byEmail && !(byEmail === byUserId && isEmailFromPage(byEmail))) return resolveUnverified(keys, known)
  if (byEmail) return { ...proven, contact: byEmail }
  if (byUserId?.email === null) return { ...proven, contact: byUserId, email }
  return { ...proven, contact: null, loser: byUserId ?? null, email }
}

/** Whether only a page has linked a contact's user id and email. */
export function isUnconfirmed(candidate: ContactRow): boolean {
  return candidate.external_id_provisional || isEmailFromPage(candidate)
}

/**
 * Whether only a page has set the email of a contact that the tenant's systems know by its user id. A contact
 * identified only by pages keeps its email: a server that sends the email identifies that contact.
 */
function isEmailProvisional(candidate: ContactRow): boolean {
  return candidate.external_id !== null && !candidate.external_id_provisional && isEmailFromPage(candidate)
}

function isEmailFromPage({ email, properties_provenance }: ContactRow): boolean {
  const provenance = properties_provenance as Record<string, { source: string }>
  return email !== null && isUnverified(provenance.email?.source)
}
