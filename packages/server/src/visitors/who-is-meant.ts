import type { ContactRow } from '../contacts/contact-row.ts'
import { isUnverified } from '../contacts/source-standing.ts'

/**
 * How far an identification is to be believed. `verified`: it came with an API key. `signed`: it came from a page with a
 * hash that only the tenant's server can make, of the user id, else of the email. `unverified`: a page said it.
 */
export type Trust = 'verified' | 'signed' | 'unverified'

/** A contact that an identification may mean. */
export interface Holder extends ContactRow {
  /** Only a page has said that the external id is this contact's. */
  external_id_provisional: boolean
}

export interface Claim {
  email: string | null
  userId: string | null
  trust: Trust
}

/** The contacts that have the claim's email and its user id; they may be one. */
export interface Known {
  byEmail: Holder | undefined
  byUserId: Holder | undefined
}

/** What an identification comes to. */
export interface Meant {
  /** null: a new contact. */
  contact: Holder | null
  /** Whether the user id becomes the contact's, or stays it, for good (`firm`) or until a verified claim (`provisional`). */
  userId: 'unchanged' | 'provisional' | 'firm'
  /** Who loses the user id: only a page had said that it was theirs. */
  loser: Holder | null
  /** The email that a contact without one is given, or that is confirmed. */
  email: string | null
  /** Whether the email is only what a page has said, whatever is proven of the user id. */
  isEmailUnproven: boolean
  /** Whether an email was sent that cannot be used. */
  isEmailLeftOut: boolean
  /** As what the properties count. */
  trust: Trust
}

const NOTHING = {
  userId: 'unchanged',
  loser: null,
  email: null,
  isEmailUnproven: false,
  isEmailLeftOut: false,
} as const

/**
 * Finds who is meant. Email is the strongest key, then the user id; the email and the user id of a contact never change,
 * but for a user id that only a page has said: a verified claim takes it over.
 */
export function whoIsMeant(claim: Claim, known: Known): Meant {
  if (claim.trust === 'unverified') return saidByPage(claim, known)
  return claim.trust === 'signed' && claim.userId !== null && claim.email !== null
    ? signedUserId({ ...claim, userId: claim.userId, email: claim.email }, known)
    : verified(claim, known)
}

function saidByPage({ email, userId }: Claim, { byEmail, byUserId }: Known): Meant {
  const said = { ...NOTHING, trust: 'unverified' } as const
  const takes = userId !== null && !byUserId ? 'provisional' : 'unchanged'
  if (byEmail) return { ...said, contact: byEmail, userId: byEmail.external_id === null ? takes : 'unchanged' }
  // A contact that was known by its user id alone, and says its email now.
  if (byUserId && (email === null || byUserId.email === null)) return { ...said, contact: byUserId, email }
  return { ...said, contact: null, userId: takes, email }
}

function verified({ email, userId, trust }: Claim, { byEmail, byUserId }: Known): Meant {
  const proven = { ...NOTHING, trust }
  const loser = byUserId && byUserId !== byEmail && isLoose(byUserId) ? byUserId : null
  const isFree = userId !== null && (!byUserId || loser !== null)
  if (byEmail) {
    const hasIt = userId !== null && byEmail.external_id === userId
    const takes = isFree && (byEmail.external_id === null || byEmail.external_id_provisional)
    const confirmed = isEmailSaidByPage(byEmail) ? byEmail.email : null
    return { ...proven, contact: byEmail, userId: hasIt || takes ? 'firm' : 'unchanged', loser, email: confirmed }
  }
  if (byUserId?.email === null) return { ...proven, contact: byUserId, userId: 'firm', email }
  // Without an email nothing contradicts a page that has said both. But a page must not choose a contact that is known
  // otherwise as the one that the tenant's systems write to.
  const isOwnOfPages = !byUserId?.external_id_provisional || isEmailSaidByPage(byUserId)
  if (byUserId && email === null && isOwnOfPages) return { ...proven, contact: byUserId }
  return { ...proven, contact: null, userId: isFree ? 'firm' : 'unchanged', loser, email }
}

/**
 * The hash covers the user id, so anybody who has signed in can put any email beside it: that leads to no contact which
 * the user id does not lead to, or it proves nothing.
 */
function signedUserId(claim: Claim & { userId: string; email: string }, known: Known): Meant {
  const { email } = claim
  const { byEmail, byUserId } = known
  const proven = { ...NOTHING, trust: 'signed', userId: 'firm', isEmailUnproven: true } as const
  if (byUserId && !byUserId.external_id_provisional) {
    const isBlank = byUserId.email === null && !byEmail
    const isEmailLeftOut = !isBlank && byUserId.email !== email
    return { ...proven, contact: byUserId, email: isBlank ? email : null, isEmailLeftOut }
  }
  if (byEmail && !(byEmail === byUserId && isEmailSaidByPage(byEmail))) return saidByPage(claim, known)
  if (byEmail) return { ...proven, contact: byEmail }
  if (byUserId?.email === null) return { ...proven, contact: byUserId, email }
  return { ...proven, contact: null, loser: byUserId ?? null, email }
}

/** Whether a contact's user id and email belong together only by the word of a page. */
function isLoose(holder: Holder): boolean {
  return holder.external_id_provisional || isEmailSaidByPage(holder)
}

function isEmailSaidByPage({ email, properties_provenance }: Holder): boolean {
  const provenance = properties_provenance as Record<string, { source: string }>
  return email !== null && isUnverified(provenance.email?.source)
}
