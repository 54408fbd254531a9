import { isOpenToAnybody } from '../enrichment/company.ts'

/** Mailboxes of a task, which several people read. */
const ROLES = new Set(
  'abuse accounting accounts admin administrator billing booking bookings careers contact customerservice enquiries enquiry events feedback finance hello help helpdesk hi hostmaster hr info information inquiries invoice invoices it jobs kontakt legal mail marketing media news newsletter noreply no-reply donotreply office operations orders partners postmaster post press privacy purchasing reception recruiting root sales security service services shop staff subscribe support team test tech verkauf webmaster welcome work'.split(
    ' ',
  ),
)

/** Providers that deliver an address with dots to the mailbox without. */
const IGNORES_DOTS = 'gmail.com'

/** An address without what its provider ignores. */
export interface Mailbox {
  local: string
  domain: string
  /** Whether several people read it. */
  isShared: boolean
  /** Whether its domain is an employer's, as far as is known. */
  isAtWork: boolean
}

/** @param address as it is stored: in lower case, its form checked. */
export function mailboxOf(address: string): Mailbox {
  const at = address.lastIndexOf('@')
  const host = address.slice(at + 1)
  const domain = host === 'googlemail.com' ? IGNORES_DOTS : host
  const untagged = address.slice(0, at).replace(/(?<=.)\+.*$/, '')
  const local = domain === IGNORES_DOTS ? untagged.replaceAll('.', '') : untagged
  return { local, domain, isShared: ROLES.has(local), isAtWork: !isOpenToAnybody(domain) }
}
