import { compareNames, type NameMatch } from './person-name.ts'
import { isSamePhone } from './phone.ts'
import type { Traits } from './traits.ts'

/** Why two contacts may be one person, in words. */
export const REASONS = {
  same_address: 'The email addresses differ only in dots or plus tags.',
  same_profile: 'Both have the same profile at another site.',
  same_phone: 'Both have the same phone number.',
  shared_phone: 'Both have the same phone number, but other names: it may be of a family or a switchboard.',
  same_name_at_company: 'Both have the same name and the same company.',
  similar_name_at_company: 'Both are at the same company, and the names differ only in a short form or a typo.',
} as const
export type Reason = keyof typeof REASONS

export interface Likeness {
  /** From 0 to 1. */
  confidence: number
  reasons: Reason[]
}

/** Pairs below it are not suggested. */
const SUGGESTED_FROM = 0.5
/** However much else they share: two names are rarely one person. */
const OTHER_NAMES_MAX = 0.75
const SURE_MAX = 0.99

/** Compares two contacts. @returns null if they are hardly one person. */
export function compareContacts(a: Traits, b: Traits): Likeness | null {
  const names = compareNames(a.name, b.name)
  const isAtOneCompany = a.companies.some((company) => b.companies.includes(company))
  // Twins, siblings and couples at one company.
  const isRelative = names === 'different' && isAtOneCompany && a.name.last !== '' && a.name.last === b.name.last
  if (isRelative) return null
  const found = new Map<Reason, number>()
  const note = (reason: Reason, weight: number) => found.set(reason, weight)
  if (isSameMailbox(a, b)) note('same_address', 0.95)
  if (a.profiles.some((one) => b.profiles.some(({ site, name }) => one.site === site && one.name === name))) {
    note('same_profile', 0.95)
  }
  if (a.phones.some((phone) => b.phones.some((other) => isSamePhone(phone, other)))) {
    note(names === 'different' ? 'shared_phone' : 'same_phone', PHONE_WEIGHT[names])
  }
  if (isAtOneCompany && (names === 'same' || names === 'similar')) {
    const weight = nameWeight(a, b, names)
    if (weight > 0) note(names === 'same' ? 'same_name_at_company' : 'similar_name_at_company', weight)
  }
  if (found.size === 0) return null
  const doubt = found.values().reduce((product, weight) => product * (1 - weight), 1)
  const limit = names === 'different' ? OTHER_NAMES_MAX : SURE_MAX
  const confidence = Math.round(Math.min(1 - doubt, limit) * 100) / 100
  return confidence < SUGGESTED_FROM ? null : { confidence, reasons: [...found.keys()] }
}

const PHONE_WEIGHT: Readonly<Record<NameMatch, number>> = {
  same: 0.92,
  similar: 0.88,
  partial: 0.78,
  unknown: 0.7,
  different: 0.5,
}

function isSameMailbox({ mailbox: a }: Traits, { mailbox: b }: Traits): boolean {
  return a !== null && b !== null && !a.isShared && a.local === b.local && a.domain === b.domain
}

/** How much a name at one company says. A company with two people of one name tells them apart in what is looked at here. */
function nameWeight(a: Traits, b: Traits, names: 'same' | 'similar'): number {
  const full = names === 'same' ? 0.9 : 0.84
  const hasOtherProfile = a.profiles.some((one) =>
    b.profiles.some(({ site, name }) => one.site === site && one.name !== name),
  )
  if (hasOtherProfile) return 0
  const [one, other] = [a.mailbox, b.mailbox]
  const atOneDomain =
    one?.isAtWork && !one.isShared && other?.isAtWork && !other.isShared && one.domain === other.domain
  if (!atOneDomain || one.local === other.local) return full
  // wei.zhang@ and wei.zhang2@
  if (one.local.replace(/\d+/g, '') === other.local.replace(/\d+/g, '')) return 0
  const hasOtherPhone = a.phones.length > 0 && b.phones.length > 0
  return hasOtherPhone ? 0.6 : full - 0.04
}
