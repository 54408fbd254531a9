import { createHash } from 'node:crypto'
import type { ComparedContact } from '../contacts/compared-values.ts'
import { type Mailbox, mailboxOf } from './mailbox.ts'
import { folded, type PersonName, parseName } from './person-name.ts'
import { endOf, type Phone, parsePhone } from './phone.ts'
import { type Profile, parseProfile } from './profile.ts'

/** What is compared of a contact. */
export interface Traits {
  mailbox: Mailbox | null
  name: PersonName
  phones: Phone[]
  profiles: Profile[]
  /** What its company is known by: its record, its domain and its name. */
  companies: string[]
}

const PHONE = /phone|mobile|whatsapp/i
const PROFILE = /linkedin|xing|twitter|github|instagram|facebook|profile/i
const LEGAL_FORM =
  /( (inc|incorporated|corp|corporation|co|company|llc|llp|ltd|limited|plc|gmbh|ag|kg|se|sa|sas|sarl|srl|spa|bv|nv|oy|ab|as))+$/
/** What people write who have no company. */
const NO_COMPANY = /^(|none|na|n a|self|self employed|freelance|freelancer|private|privat|student|unknown|test)$/
const PER_KIND_MAX = 4

export function traitsOf({ email, company_id, properties }: ComparedContact): Traits {
  const texts = Object.entries(properties).flatMap(([name, value]): [string, string][] =>
    typeof value === 'object' ? [] : [[name, String(value)]],
  )
  const byName = new Map(texts.map(([name, text]) => [name.toLowerCase().replace(/[\s_-]/g, ''), text]))
  const text = (name: string) => byName.get(name) ?? ''
  const mailbox = email === null ? null : mailboxOf(email)
  const companyName = folded(text('company')).replace(LEGAL_FORM, '')
  const domain = text('companydomain').trim().toLowerCase() || (mailbox?.isAtWork ? mailbox.domain : '')
  return {
    mailbox,
    name: parseName(text('firstname'), text('lastname'), text('fullname') || text('name')),
    phones: uniqueOf(
      PHONE,
      texts,
      (_name, value) => parsePhone(value),
      ({ digits }) => digits,
    ),
    profiles: uniqueOf(PROFILE, texts, parseProfile, ({ site, name }) => `${site}/${name}`),
    companies: [
      ...(company_id === null ? [] : [`id ${company_id}`]),
      ...(domain === '' ? [] : [`domain ${domain}`]),
      ...(NO_COMPANY.test(companyName) ? [] : [`name ${companyName}`]),
    ],
  }
}

/** The values of the properties with such names, each once. */
function uniqueOf<Value>(
  names: RegExp,
  texts: readonly [string, string][],
  parse: (name: string, text: string) => Value | null,
  keyOf: (value: Value) => string,
): Value[] {
  const found = texts.flatMap(([name, text]) => (names.test(name) ? (parse(name, text) ?? []) : []))
  return [...new Map(found.map((value) => [keyOf(value as Value), value as Value])).values()].slice(0, PER_KIND_MAX)
}

/**
 * What two contacts must share to be compared: at most 15 hashes. Two names of one person at one company have the last name in common,
 * or the first name and the first letter of the last: one typo changes only one of them, and nobody mistypes the first letter.
 * Two texts with one hash do no harm, because the contacts themselves are compared.
 */
export function keysOf({ mailbox, name: { first, last }, phones, profiles, companies }: Traits): string[] {
  const [called = ''] = first.split(' ')
  const texts = [
    ...(mailbox === null || mailbox.isShared ? [] : [`mailbox ${mailbox.local}@${mailbox.domain}`]),
    ...phones.map((phone) => `phone ${endOf(phone)}`),
    ...profiles.map(({ site, name }) => `profile ${site}/${name}`),
    ...(called === '' || last === ''
      ? []
      : companies.flatMap((company) => [`last ${last} at ${company}`, `first ${called} ${last[0]} at ${company}`])),
  ]
  return [...new Set(texts.map(hash))]
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest().readBigInt64BE().toString()
}
