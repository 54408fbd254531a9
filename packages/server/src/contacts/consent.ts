import { hasMoreCharacters } from '../platform/characters.ts'

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
 * How a property speaks of consent: its value says that the person opted out or that mail bounces; that the person
 * agreed; or one of many things, such as Mailchimp's `status`. `allowed` and `deliverable` are also a status, but a
 * plain no counts too: `newsletter` is `no` or `weekly`. `other` is about calls or texts, and does not stop mail.
 */
type Kind = 'opted_out' | 'bounced' | 'agreed' | 'status' | 'allowed' | 'deliverable' | 'other'

/** Systems write their name or that of the record first: `hs_email_optout`, `Person - Marketing status`. */
const PREFIX = `(?:${[
  'hs|hubspot|salesforce|sfdc|sf|mailchimp|klaviyo|shopify|pipedrive|intercom|activecampaign|brevo|sendinblue|marketo',
  'mkto|zoho|dynamics|pardot|pi|customerio|cio|mailjet|braze|drip|omnisend|iterable|wix|outreach|salesloft|apollo|crm',
  'people|person|contacts?|lead|customer|user|member|profile|subscriber|subscriptions|properties|traits|attributes',
].join('|')})*`
const IS = '(?:is|has|was|been)*'
const MAIL =
  '(?:e?mails?|e?mailings?|marketing|newsletters?|communications?|bulk|mass|promotional|commercial|globally|global|all)'
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
      `(?:no|stop)(?:contact|e?mails?|marketing|newsletters?|mailings)${MAIL}*`,
      'dn[ce]',
      `${MAIL}*${IS}opt(?:s|ed)?outs?${OUT_OF}${SUBSCRIPTION_ID}`,
      // As HubSpot's exports name them: "Opted out of email: Marketing Information".
      'optedoutofemail.*',
      `${MAIL}*${IS}unsub(?:scribed?|scription|scribes)?${OUT_OF}(?:campaign|campaigntitle|campaignid)?`,
      `${MAIL}*${IS}(?:suppressed|suppressions?)(?:list)?`,
      `${MAIL}*${IS}(?:black|block|deny)list(?:ed)?`,
      `${IS}excludedfrom${MAIL}*(?:campaigns?)?`,
      `${MAIL}*${IS}(?:complained|spamcomplain(?:t|ts|ed|ing)|spamreport(?:s|ed)?|reportedspam|e?mailcomplaints?|reportedasspam|markede?mailasspam|markedasspam)`,
      `(?:gdpr|${MAIL})*consent(?:withdrawn|revoked|refused|denied)`,
      `${MAIL}+${IS}(?:suspended|disabled)`,
    ],
  ],
  [
    'bounced',
    [
      `${MAIL}*${IS}(?:hard)?bounced(?:hard)?`,
      `${MAIL}*${IS}(?:hardbounces?|bounces?hard|bouncing|bounceback)`,
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
  ['allowed', ['newsletters?', `${IS}(?:mailable|emailable|contactable)`]],
  [
    'deliverable',
    [
      `${IS}e?mail(?:address)?${IS}(?:valid|deliverable)`,
      `${IS}(?:valid|deliverable)e?mail(?:address)?`,
      'e?mail(?:address)?(?:verification|validation)?(?:status|state)',
    ],
  ],
  [
    'status',
    [
      '(?:list|mailing|newsletter|email|audience|subscription)*(?:status|state)',
      'emailsubscription',
      'email(?:marketing|campaigns?)',
      'emaildeliverability(?:status)?',
    ],
  ],
]

/** Names that may also mean something else. */
const WITH_OTHER_MEANINGS: ReadonlySet<Kind> = new Set(['status', 'allowed', 'deliverable'])

const PATTERNS = NAMES.map(([kind, names]) => {
  const detail = kind === 'agreed' || WITH_OTHER_MEANINGS.has(kind) ? 'c?' : DETAIL
  return [kind, new RegExp(`^${PREFIX}${IS}(?:${names.join('|')})${detail}$`)] as const
})

/** The names of the service's own flags. */
const OWN: readonly string[] = ['do_not_contact', 'unsubscribed']

/** A tenant has few names of properties, which all of its contacts have in common. */
const KINDS_KEPT_MAX = 20_000
/** No property has a longer name. The header of a file may, and the patterns take the square of its length. */
const NAME_LENGTH_MAX = 128
const kinds = new Map<string, Kind | null>()

function kindOf(name: string): Kind | null {
  const known = kinds.get(name)
  if (known !== undefined) return known
  if (hasMoreCharacters(name, NAME_LENGTH_MAX)) return null
  const plain = plainText(name)
  const kind = PATTERNS.find(([, pattern]) => pattern.test(plain))?.[0] ?? null
  if (kinds.size >= KINDS_KEPT_MAX) kinds.clear()
  kinds.set(name, kind)
  return kind
}

/**
 * Whether a property is about consent, in any spelling: neither a page nor an agent can set it. Names that may also
 * mean something else, such as `status`, are not.
 */
export function isConsent(name: string): boolean {
  const kind = kindOf(name)
  return kind !== null && !WITH_OTHER_MEANINGS.has(kind)
}

/**
 * The rule of outreach that a property breaks; null if it stops nothing. What other systems write is a flag, a number,
 * a date or a word, and a form's checkbox sends `on`: an opt-out counts unless it is clearly none, and an agreement
 * only if it is clearly one, because a message cannot be unsent.
 */
export function ruleBrokenBy(name: string, value: unknown): ConsentRule | null {
  const kind = kindOf(name)
  if (kind === null || kind === 'other') return null
  const texts = (Array.isArray(value) ? value : [value]).map((each) => String(each ?? '').trim())
  const said = texts.filter((text) => !isBlank(text))
  if (said.length === 0) return null
  if (kind === 'agreed' && said.some(isAgreement)) return null
  const reasons = kind === 'agreed' ? said : said.filter((text) => isReason(kind, text))
  if (reasons.length === 0) return null
  if (name === 'do_not_contact') return name
  const isBounce = (text: string) => BOUNCES.test(plainText(text)) && !OWN_CHOICES.test(plainText(text))
  const isUndeliverable = (text: string) => isBounce(text) || (kind === 'deliverable' && isNo(text))
  return kind === 'bounced' || reasons.every(isUndeliverable) ? 'bounced' : 'unsubscribed'
}

/** Whether a value stops mail, as that of a property of this kind. */
function isReason(kind: Kind, text: string): boolean {
  if (kind === 'status') return isRefusal(text)
  if (kind === 'allowed') return isRefusal(text) || isNo(text)
  if (kind === 'deliverable') return isRefusal(text) || isNo(text) || plainText(text) === 'invalid'
  return !isDenial(text)
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
  if (TICK.test(text)) return false
  return isNo(text) || UNSAID.has(plain) || AGREEMENTS.has(plain) || NOT_OPTED_OUT.test(plain) || NO_DATE.test(plain)
}

/** A plain no, in any language. */
function isNo(text: string): boolean {
  const plain = plainText(text)
  return NO.has(plain) || isZero(plain)
}

/** Clearly an agreement: a yes, a word for it, or when it was given. */
function isAgreement(text: string): boolean {
  const plain = plainText(text)
  if (TICK.test(text) || YES.has(plain) || AGREEMENTS.has(plain)) return true
  if (AGREEMENT_SENTENCE.test(text) && !NEGATION.test(text)) return true
  return /^[0-9]/.test(plain) && !isZero(plain) && !NO_DATE.test(plain)
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
const YES = new Set(
  'true t yes y on x checked wahr vrai verdadero verdadeiro vero waar ja oui si sí sim sand да tak ano はい 是'.split(
    ' ',
  ),
)
const NO = new Set(
  `false f no n off never unchecked falsch faux falso onwaar falsk falskt nein non nee nej não nao nie ne ei нет hayır
   いいえ 否`.split(/\s+/),
)
const UNSAID = new Set('none null nil undefined na'.split(' '))
/** Such as Klaviyo's `NEVER_SUPPRESSED`. */
const NOT_OPTED_OUT =
  /^(?:not|never)(?:optedout|unsubscribed|(?:hard)?bounced|suppressed|(?:black|block)listed|complained)$/
/** What systems store for a time that never came: the first day of .NET, and that of Unix. */
const NO_DATE = /^(?:00010101|19700101)(?:t?0+z?)?$/
const AGREEMENT_SENTENCE = /^(?:yes\W+)?i (?:agree|accept|consent)\b|^yes\W+i (?:want|would)\b/i
const NEGATION = /\b(?:no|not|never|none|nothing|stop|opt|unsubscribed?)\b/i
const AGREEMENTS = new Set(
  `subscribed subscribe optedin optin singleoptin doubleoptin confirmedoptin confirmed confirm active explicit implicit
   express expressed implied agreed accepted accept consented granted given allow allowed send valid deliverable
   delivered single double daily weekly monthly`.split(/\s+/),
)
const REFUSALS = new Set(
  `unsubscribed unsubscribe unsub optedout optout donotcontact donotemail donotmail dnc neversubscribed notsubscribed
   nonsubscribed nonsubscriber noconsent notoptedin suppressed usersuppressed blacklisted blocklisted cleaned bounced
   bounce hardbounce hardbounced complained complaint spam spamcomplaint reportedasspam markedasspam junk nonmarketable
   undeliverable invalidemail`.split(/\s+/),
)

/** A text in lower case, without anything but letters and digits. */
function plainText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}
