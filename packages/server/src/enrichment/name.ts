import { partsOfName } from '../imports/full-name.ts'
import { type Enricher, textOf } from './enricher.ts'

/** Properties that hold a name, or a part of one. */
const NAMES = ['firstname', 'lastname', 'name', 'fullname', 'full_name']
/** Addresses of several people, or of nobody. */
const ROLE =
  /^(info|contact|hello|hi|office|sales|support|help|service|billing|accounts?|admin|team|marketing|news(letter)?|notifications?|(do-?)?no-?t?-?reply|mailer-daemon|postmaster|webmaster|jobs|hr|press)([+.-]|@)/
/** What programs and departments write beside their addresses. */
const NOT_A_PERSON = /\b(via|team|support|service|newsletter|notifications?|no-?reply|info|office|sales)\b/i

/** The name that mails have beside the contact's address. */
export const NAME: Enricher = {
  name: 'name',
  fills: ['firstname', 'lastname'],
  inputs: ({ facts }) => [facts.nameInMail],
  find(known) {
    const { nameInMail } = known.facts
    // A first name from here beside a last name from elsewhere may be two people's.
    const isNamed = NAMES.some((key) => textOf(known, key) !== null)
    if (nameInMail === undefined || isNamed || ROLE.test(known.contact.email ?? '')) return null
    const name = personIn(nameInMail)
    return name && { properties: name, raw: { name: nameInMail } }
  },
}

/** The first and the last name in what a mail has beside an address; null if it is not a person's full name. */
function personIn(header: string): { firstname: string; lastname: string } | null {
  const text = header.replace(/^["'“]+|["'”]+$/g, '').trim()
  const { firstname, lastname } = (NOT_A_PERSON.test(text) ? null : partsOfName(text)) ?? {}
  // A single word may be anything: a login, a product, a company.
  return firstname && lastname ? { firstname, lastname } : null
}
