import { plainName, propertyNameOf } from '../contacts/property-names.ts'
import type { Column } from './columns.ts'

/** A system whose exports are recognized by the names of their columns. */
interface KnownExport {
  /** This column must be there, and two of `others`. */
  key: string
  others: readonly string[]
  /** The targets of columns, by plain name. Other columns have the same targets as in every file. */
  targets: Readonly<Record<string, string>>
}

/** `email`, `external_id` and `ignore` are targets, everything else is the name of a property. */
const KNOWN = {
  hubspot: {
    key: 'recordid',
    others: [
      'marketingcontactstatus',
      'contactowner',
      'lifecyclestage',
      'leadstatus',
      'associatedcompany',
      'associatedcompanyids',
      'createdate',
      'lastactivitydate',
    ],
    targets: {
      recordid: 'external_id',
      email: 'email',
      companyname: 'company',
      associatedcompany: 'company',
      'state/region': 'state',
      'country/region': 'country',
      unsubscribedfromallemail: 'unsubscribed',
    },
  },
  mailchimp: {
    key: 'emailaddress',
    others: ['memberrating', 'leid', 'euid', 'optintime', 'confirmtime', 'lastchanged'],
    targets: {
      emailaddress: 'email',
      euid: 'external_id',
      cc: 'country',
      region: 'state',
      // People who have unsubscribed must not get mail.
      unsubtime: 'unsubscribed',
      leid: 'ignore',
      optinip: 'ignore',
      confirmip: 'ignore',
      latitude: 'ignore',
      longitude: 'ignore',
      gmtoff: 'ignore',
      dstoff: 'ignore',
    },
  },
  attio: {
    key: 'recordid',
    others: ['emailaddresses', 'connectionstrength', 'primarylocation', 'avatarurl', 'lastinteraction', 'createdby'],
    targets: {
      recordid: 'external_id',
      emailaddresses: 'email',
      record: 'name',
      phonenumbers: 'phone',
      linkedin: 'linkedin_url',
      avatarurl: 'ignore',
      connectionstrength: 'ignore',
    },
  },
} as const satisfies Record<string, KnownExport>

export type Recognized = keyof typeof KNOWN
export const RECOGNIZED = Object.keys(KNOWN) as Recognized[]

/** Names that files of any origin use. */
const USUAL: Readonly<Record<string, string>> = {
  externalid: 'external_id',
  id: 'external_id',
  recordid: 'external_id',
  contactid: 'external_id',
  emailaddress: 'email',
  emailaddresses: 'email',
  workemail: 'email',
  mail: 'email',
  givenname: 'firstname',
  forename: 'firstname',
  surname: 'lastname',
  familyname: 'lastname',
  companyname: 'company',
  organization: 'company',
  organisation: 'company',
  associatedcompany: 'company',
  companydomainname: 'company_domain',
  domain: 'company_domain',
  title: 'jobtitle',
  position: 'jobtitle',
  stage: 'lifecyclestage',
  numberofemployees: 'numberofemployees',
  employees: 'numberofemployees',
  phonenumber: 'phone',
  linkedin: 'linkedin_url',
  linkedinprofile: 'linkedin_url',
  // The columns that a download of failed rows adds.
  importrow: 'ignore',
  errorcode: 'ignore',
  errormessage: 'ignore',
}

/** Columns that get their target only if no other column has it: HubSpot adds the domain to the company's name. */
export function isSecondChoice(name: string): boolean {
  return plainHeader(name) === 'associatedcompany'
}

/** The system that a file comes from, by its header. */
export function recognize(header: readonly string[]): Recognized | null {
  const names = new Set(header.map(plainHeader))
  const matches = RECOGNIZED.map((source) => {
    const { key, others }: KnownExport = KNOWN[source]
    return { source, count: names.has(key) ? others.filter((name) => names.has(name)).length : 0 }
  })
  matches.sort((a, b) => b.count - a.count)
  const [best] = matches
  return best && best.count >= 2 ? best.source : null
}

/** What a column probably means. */
export function targetOf(name: string, source: Recognized | null): Column['target'] | { property: string } {
  const plain = plainHeader(name)
  if (plain === '' || plain === '__proto__') return 'ignore'
  const known: Readonly<Record<string, string>> = source === null ? {} : KNOWN[source].targets
  const target = own(known, plain) ?? own(USUAL, plain) ?? propertyOf(name)
  if (target === 'email' || target === 'external_id' || target === 'ignore') return target
  return { property: target }
}

/** The property that the service knows by the name, else the whole name. */
function propertyOf(name: string): string {
  const short = shortHeader(name)
  const property = propertyNameOf(short)
  return property === short ? name.trim() : property
}

function plainHeader(name: string): string {
  return plainName(shortHeader(name))
}

/** Attio writes `Name > First name`. */
function shortHeader(name: string): string {
  return name.replace(/^.*>/s, '').trim()
}

function own(names: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(names, name) ? names[name] : undefined
}
