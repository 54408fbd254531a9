import { type NamedTarget, plainHeader, usualTarget } from './column-names.ts'

/** A system whose exports are recognized by the names of their columns. */
interface KnownExport {
  /** One of these columns must be there, and two of `others`. */
  keys: readonly string[]
  others: readonly string[]
  /** The targets of columns, by plain name, where they differ from those in other files. */
  targets: Readonly<Record<string, string>>
}

/** `email`, `external_id`, `full_name` and `ignore` are targets, everything else is the name of a property. */
const KNOWN = {
  hubspot: {
    keys: ['recordid'],
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
    targets: { unsubscribedfromallemail: 'unsubscribed' },
  },
  mailchimp: {
    keys: ['emailaddress'],
    others: ['memberrating', 'leid', 'euid', 'optintime', 'confirmtime', 'lastchanged', 'unsubtime', 'cleantime'],
    targets: {
      euid: 'external_id',
      cc: 'country',
      region: 'state',
      // People who have unsubscribed must not get mail.
      unsubtime: 'unsubscribed',
      cleantime: 'bounced',
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
    keys: ['recordid'],
    others: ['emailaddresses', 'connectionstrength', 'primarylocation', 'avatarurl', 'lastinteraction', 'createdby'],
    targets: { record: 'name', phonenumbers: 'phone', avatarurl: 'ignore', connectionstrength: 'ignore' },
  },
  outlook: {
    keys: ['emailaddress'],
    others: [
      'emaildisplayname',
      'emailtype',
      'email2address',
      'businessstreet',
      'assistantsname',
      'governmentidnumber',
    ],
    targets: { emailtype: 'ignore', emaildisplayname: 'ignore' },
  },
  google: {
    keys: ['email1value'],
    others: [
      'phoneticfirstname',
      'fileas',
      'labels',
      'groupmembership',
      'email1label',
      'email1type',
      'organizationname',
    ],
    targets: { photo: 'ignore', email1label: 'ignore', email1type: 'ignore' },
  },
  pipedrive: {
    keys: ['emailwork', 'email'],
    others: ['emailhome', 'emailother', 'phonework', 'phonehome', 'openactivities', 'wondeals', 'marketingstatus'],
    targets: {},
  },
  salesforce: {
    keys: ['email'],
    others: [
      'hasoptedoutofemail',
      'donotcall',
      'accountid',
      'ownerid',
      'mailingcity',
      'emailoptout',
      'lastmodifieddate',
    ],
    targets: { mailingcity: 'city', mailingcountry: 'country', mailingstate: 'state' },
  },
  klaviyo: {
    keys: ['email'],
    others: [
      'emailmarketingconsent',
      'emailsuppressions',
      'klaviyoid',
      'emailmarketingconsenttimestamp',
      'profilecreatedon',
    ],
    targets: { klaviyoid: 'external_id' },
  },
  shopify: {
    keys: ['email'],
    others: [
      'acceptsemailmarketing',
      'acceptssmsmarketing',
      'totalspent',
      'totalorders',
      'taxexempt',
      'defaultaddresscity',
    ],
    targets: { customerid: 'external_id', defaultaddresscity: 'city', defaultaddresscompany: 'company' },
  },
} as const satisfies Record<string, KnownExport>

export type Recognized = keyof typeof KNOWN
export const RECOGNIZED = Object.keys(KNOWN) as Recognized[]

/** The system that a file comes from, by its header. */
export function recognize(header: readonly string[]): Recognized | null {
  const names = new Set(header.map(plainHeader))
  const matches = RECOGNIZED.map((source) => {
    const { keys, others }: KnownExport = KNOWN[source]
    const hasKey = keys.some((key) => names.has(key))
    return { source, count: hasKey ? others.filter((name) => names.has(name)).length : 0 }
  })
  matches.sort((a, b) => b.count - a.count)
  const [best] = matches
  return best && best.count >= 2 ? best.source : null
}

/** What a column probably means; null if it is a property of its own. */
export function targetOf(header: string, source: Recognized | null): NamedTarget | null {
  const known: Readonly<Record<string, string>> = source === null ? {} : KNOWN[source].targets
  const plain = plainHeader(header)
  // Better than a usual name, but not than our own.
  if (Object.hasOwn(known, plain)) return { target: known[plain] ?? 'ignore', rank: -0.5 }
  return usualTarget(header)
}
