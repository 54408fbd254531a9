/** The rule of outreach that a property breaks. A bounce concerns the address, the others the person. */
export type ConsentRule = 'do_not_contact' | 'unsubscribed' | 'bounced'

/** The value of a property; `properties.ts` counts consent, so it cannot be imported here. */
type PropertyValue = string | number | boolean | (string | number | boolean)[]

/** What decides that a contact is not written to. */
export interface Consent {
  property: string
  value: PropertyValue
  rule: ConsentRule
}

/**
 * How a property speaks of consent: its value says that the person opted out or that mail bounces; that the person agreed;
 * or one of many things, such as Mailchimp's `status`. `other` is about calls or texts, and does not stop mail.
 */
type Kind = 'opted_out' | 'bounced' | 'agreed' | 'status' | 'other'

/** Systems write their name or that of the record first: `hs_email_optout`, `Person - Marketing status`. */
const PREFIX = `(?:${[
  'hs|hubspot|salesforce|sfdc|sf|mailchimp|klaviyo|shopify|pipedrive|intercom|activecampaign|brevo|sendinblue|marketo',
  'mkto|zoho|dynamics|pardot|pi|customerio|cio|mailjet|braze|drip|omnisend|iterable|wix|outreach|salesloft|apollo|crm',
  'people|person|contacts?|lead|customer|user|member|profile|subscriber|subscriptions|properties|traits|attributes',
].join('|')})*`
const IS = '(?:is|has|was|been)*'
const MAIL =
  '(?:e?mails?|e?mailings?|marketing|newsletters?|communications?|bulk|mass|promotional|commercial|global|all)'
/** A time or a reason is there only if it happened. Salesforce ends the names of custom fields with `__c`. */
const DETAIL = '(?:at|on|date|time|timestamp|reason|other|enum|cause|source|mode|method|flag|status|c)*'
const NOT = '(?:do|does)n(?:o)?t'
const ASK = '(?:allow|send|receive|want)?'
const OUT_OF = `(?:(?:of|from|for|to)?(?:${MAIL}|contacts?|messages?|lists?|solicit|processing|everything)+)?`
/** HubSpot has a property for each type of subscription: `hs_email_optout_10841063`. */
const SUBSCRIPTION_ID = '[0-9]*'
const OTHER_CHANNEL =
  '(?:sms|mms|texts?|fax(?:es)?|phones?|calls?|phonecalls?|push|whatsapp|postal|postalmail|directmail)'

/** Names in lower case, without anything but letters and digits; the first kind that matches counts. */
const NAMES: readonly [Kind, readonly string[]][] = [
  [
    'opted_out',
    [
      `${MAIL}*${NOT}${ASK}${MAIL}*(?:contact|e?mails?|e?mailings?|market|marketing|disturb|solicit|mm|write|newsletters?)(?:materials?|me|them|addresses)?`,
      `no(?:contact|marketing|newsletters?|mailings)${MAIL}*`,
      `${MAIL}*${IS}opt(?:s|ed)?outs?${OUT_OF}${SUBSCRIPTION_ID}`,
      // As HubSpot's exports name them: "Opted out of email: Marketing Information".
      'optedoutofemail.*',
      `${MAIL}*${IS}unsub(?:scribed?|scription|scribes)?${OUT_OF}(?:campaign|campaigntitle|campaignid)?`,
      `${MAIL}*${IS}(?:suppressed|suppressions?)(?:list)?`,
      `${MAIL}*${IS}(?:black|block|deny)list(?:ed)?`,
      `${IS}excludedfrom${MAIL}*(?:campaigns?)?`,
      `${MAIL}*${IS}(?:complained|spamcomplain(?:t|ts|ed|ing)|e?mailcomplaints?|reportedasspam|markede?mailasspam|markedasspam)`,
      `(?:gdpr|${MAIL})*consent(?:withdrawn|revoked|refused|denied)`,
      `${MAIL}+${IS}suspended`,
    ],
  ],
  [
    'bounced',
    [
      `${MAIL}*${IS}(?:hard)?bounced(?:hard)?`,
      `${MAIL}*${IS}(?:hardbounces?|bouncing|bounceback)`,
      `${MAIL}*bounce(?:reason|date|type)`,
      'clean(?:time|campaigntitle|campaignid)',
      `e?mail(?:address)?${IS}(?:invalid|bad|undeliverable|quarantined)`,
      `${IS}(?:invalid|bad|undeliverable|quarantined)e?mail(?:address)?`,
      'emailbadaddress',
    ],
  ],
  [
    'agreed',
    [
      `${MAIL}*accepts?(?:product)?${MAIL}+`,
      `${MAIL}+opt(?:ed)?in`,
      `${MAIL}*${IS}opt(?:ed)?in(?:to${MAIL}+)?`,
      `(?:gdpr|${MAIL})+(?:consent|consented|permission|allowed)(?:state|status|marketingstate|given|granted)?`,
      `consent(?:ed)?to(?:be)?(?:${MAIL}|contact|contacted)+`,
      `${MAIL}+(?:subscribed|subscribe|subscriberstatus|subscriptionstatus|optstatus|optinstatus)`,
      '(?:email)?marketing(?:status|state)',
      `${IS}subscribedto${MAIL}+`,
      `${IS}(?:can|may)(?:be|receive)?(?:${MAIL}|contact|contacted)+`,
      `allows?(?:${MAIL}|contact)+`,
      '(?:permissionto|send)marketingmaterials?',
      'permissiontosend',
      '(?:receives?|wants?)(?:marketing)?(?:emails?|mailings?)',
    ],
  ],
  [
    'other',
    [
      `${MAIL}*${NOT}${ASK}${OTHER_CHANNEL}`,
      `opt(?:ed)?out(?:of|from)?(?:${OTHER_CHANNEL}|tracking|geotracking|profiling)`,
      `${OTHER_CHANNEL}${IS}(?:opt(?:ed)?out|unsubscribed|(?:black|block)list(?:ed)?|opt(?:ed)?in|consent|optstatus)`,
      `(?:accepts?)?${OTHER_CHANNEL}marketing(?:consent)?`,
    ],
  ],
  [
    'status',
    [
      '(?:list|mailing|newsletter|email|audience|subscription)*(?:status|state)',
      'emailsubscription',
      'emaildeliverability(?:status)?',
    ],
  ],
]

const PATTERNS = NAMES.map(([kind, names]) => {
  const detail = kind === 'agreed' || kind === 'status' ? 'c?' : DETAIL
  return [kind, new RegExp(`^${PREFIX}${IS}(?:${names.join('|')})${detail}$`)] as const
})

/** The names of the service's own flags. */
const OWN: readonly string[] = ['do_not_contact', 'unsubscribed']

/** A tenant has few names of properties, which all of its contacts have in common. */
const KINDS_KEPT_MAX = 20_000
const NAME_LENGTH_MAX = 128
const kinds = new Map<string, Kind | null>()

function kindOf(name: string): Kind | null {
  const known = kinds.get(name)
  if (known !== undefined) return known
  const plain = plainText(name)
  const kind = PATTERNS.find(([, pattern]) => pattern.test(plain))?.[0] ?? null
  if (kinds.size >= KINDS_KEPT_MAX) kinds.clear()
  if (name.length <= NAME_LENGTH_MAX) kinds.set(name, kind)
  return kind
}

/**
 * Whether a property is about consent, in any spelling: neither a page nor an agent can set it. Names that may also mean
 * something else, such as `status`, are not.
 */
export function isConsent(name: string): boolean {
  const kind = kindOf(name)
  return kind !== null && kind !== 'status'
}

/**
 * The rule of outreach that a property breaks; null if it stops nothing. What other systems write is a flag, a number, a
 * date or a word, and a form's checkbox sends `on`: an opt-out counts unless it is clearly none, and an agreement only if
 * it is clearly one, because a message cannot be unsent.
 */
export function ruleBrokenBy(name: string, value: unknown): ConsentRule | null {
  const kind = kindOf(name)
  if (kind === null || kind === 'other') return null
  const texts = (Array.isArray(value) ? value : [value]).map((each) => String(each ?? '').trim())
  const said = texts.filter((text) => !isBlank(text))
  if (said.length === 0) return null
  if (kind === 'agreed' && said.some(isAgreement)) return null
  const reasons = kind === 'agreed' ? said : said.filter(kind === 'status' ? isRefusal : (text) => !isDenial(text))
  if (reasons.length === 0) return null
  if (name === 'do_not_contact') return name
  const isBounce = (text: string) => BOUNCES.test(plainText(text)) && !OWN_CHOICES.test(plainText(text))
  return kind === 'bounced' || reasons.every(isBounce) ? 'bounced' : 'unsubscribed'
}

const RULES: readonly ConsentRule[] = ['do_not_contact', 'unsubscribed', 'bounced']

/** Which property decides that a contact is not written to; null if none does. */
export function consentOf(properties: Readonly<Record<string, PropertyValue>>): Consent | null {
  return consentsOf(properties)[0] ?? null
}

/** All properties that stop outreach to a contact; the one that decides comes first. */
export function consentsOf(properties: Readonly<Record<string, PropertyValue>>): Consent[] {
  const found = Object.keys(properties).flatMap((property): Consent[] => {
    const value = properties[property] as PropertyValue
    const rule = ruleBrokenBy(property, value)
    return rule === null ? [] : [{ property, value, rule }]
  })
  const inOrder = (a: Consent, b: Consent) =>
    RULES.indexOf(a.rule) - RULES.indexOf(b.rule) || (a.property < b.property ? -1 : 1)
  return found.sort(inOrder)
}

const FLAG_LENGTH_MAX = 40
const FLAGS_MAX = 20

/**
 * The fields that count for the limits of a record: consent is stored even on a full contact. Only short values of few
 * properties are left out, because the number of spellings is unlimited.
 */
export function withoutConsent<Field>(
  fields: Readonly<Record<string, Field>>,
  read: (field: Field) => unknown,
): Record<string, Field> {
  let others = 0
  const isFlag = ([name, field]: [string, Field]) => {
    const value = read(field)
    const isShort = typeof value === 'string' ? value.length <= FLAG_LENGTH_MAX : typeof value !== 'object'
    if (!isShort || !isConsent(name)) return false
    return OWN.includes(name) || ++others <= FLAGS_MAX
  }
  return Object.fromEntries(Object.entries(fields).filter((entry) => !isFlag(entry)))
}

/** Blank cells, empty lists and dashes say nothing. A tick has neither letters nor digits either, but is a yes. */
function isBlank(text: string): boolean {
  return plainText(text) === '' && !TICK.test(text)
}

/** Clearly no opt-out. Spreadsheets write FALSE in the language of the person who uses them. */
function isDenial(text: string): boolean {
  const plain = plainText(text)
  return !TICK.test(text) && (DENIALS.has(plain) || AGREEMENTS.has(plain) || isZero(plain))
}

/** Clearly an agreement: a yes, a word for it, or when it was given. */
function isAgreement(text: string): boolean {
  const plain = plainText(text)
  if (TICK.test(text) || YES.has(plain) || AGREEMENTS.has(plain)) return true
  return /^[0-9]/.test(plain) && !isZero(plain)
}

/** Clearly a refusal, as the value of a property that says many other things too. */
function isRefusal(text: string): boolean {
  return REFUSALS.has(plainText(text))
}

/** `0`, `0.0` and `0000-00-00`. */
function isZero(plain: string): boolean {
  return /^0+$/.test(plain)
}

const TICK = /[\u2611\u2705\u2713\u2714]/
const BOUNCES = /bounce|invalid|undeliverable|cleaned/
const OWN_CHOICES = /unsub|complain|spam|user|manual|optout|optedout/
const YES = new Set('true t yes y on x checked wahr vrai verdadero verdadeiro vero waar ja oui si sim sand'.split(' '))
const DENIALS = new Set(
  `false f no n off none null nil undefined na never unchecked falsch faux falso onwaar falsk falskt nein non nee nej
   notoptedout notunsubscribed notbounced notsuppressed`.split(/\s+/),
)
const AGREEMENTS = new Set(
  `subscribed subscribe optedin optin singleoptin doubleoptin confirmedoptin confirmed confirm active explicit implicit
   express expressed implied agreed accepted accept consented granted given allow allowed send valid deliverable`.split(
    /\s+/,
  ),
)
const REFUSALS = new Set(
  `unsubscribed unsubscribe unsub optedout optout donotcontact donotemail donotmail dnc neversubscribed notsubscribed
   nonsubscribed nonsubscriber noconsent notoptedin suppressed usersuppressed blacklisted blocklisted cleaned bounced
   bounce hardbounce hardbounced complained complaint spam spamcomplaint reportedasspam markedasspam junk
   undeliverable invalidemail`.split(/\s+/),
)

/** A text in lower case, without anything but letters and digits. */
function plainText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}
