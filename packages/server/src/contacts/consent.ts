import { type Kind, phraseOfName, phraseOfValue } from './consent-names.ts'
import { withoutAccents } from './consent-words.ts'

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

/** Names that may also mean something else. */
const WITH_OTHER_MEANINGS: ReadonlySet<Kind> = new Set([
  'status',
  'allowed',
  'deliverable',
  'blocked',
  'bounces',
  'tags',
  'withdrawn',
])

/** The names of the service's own flags. */
const OWN: readonly string[] = ['do_not_contact', 'unsubscribed']

/**
 * Whether a property is about consent, in any spelling: neither a page nor an agent can set it. Names that may also mean
 * something else, such as `status`, are not.
 */
export function isConsent(name: string): boolean {
  const { kind } = phraseOfName(name)
  return kind !== null && !WITH_OTHER_MEANINGS.has(kind)
}

/** Whether some value of a property stops outreach. Names that may also mean something else count. */
export function maySilence(name: string): boolean {
  const { kind } = phraseOfName(name)
  return kind !== null && kind !== 'other' && kind !== 'withdrawn'
}

/**
 * The rule of outreach that a property breaks; null if it stops nothing. What other systems write is a flag, a number, a
 * date or a word, and a form's checkbox sends `on`: an opt-out counts unless it is clearly none, and an agreement only if
 * it is clearly one, because a message cannot be unsent.
 */
export function ruleBrokenBy(name: string, value: unknown): ConsentRule | null {
  const { kind } = phraseOfName(name)
  if (kind === null || kind === 'other' || kind === 'withdrawn') return null
  const texts = kind === 'tags' ? itemsOf(value) : (Array.isArray(value) ? value : [value]).map(asText)
  const said = texts.filter((text) => !isBlank(text))
  if (said.length === 0) return null
  if (kind === 'agreed' && said.some(isAgreement)) return null
  const reasons = kind === 'agreed' ? said : said.filter((text) => isReason(kind, text))
  if (reasons.length === 0) return null
  if (name === 'do_not_contact') return name
  const isUndeliverable = (text: string) => saysBounced(text) || (kind === 'deliverable' && isNo(text))
  const isOfAddress = kind === 'bounced' || kind === 'bounces' || reasons.every(isUndeliverable)
  return isOfAddress ? 'bounced' : 'unsubscribed'
}

/** Of an opt-out, whether only the address is bad. A long text may add that the person chose it. */
function saysBounced(text: string): boolean {
  if (text.length > JUDGED_LENGTH_MAX) return false
  const plain = plainText(text)
  return BOUNCES.test(plain) && !OWN_CHOICES.test(plain)
}

function asText(value: unknown): string {
  return String(value ?? '').trim()
}

/** Tags are a list, or a text that separates them. Longer ones say nothing. */
function itemsOf(value: unknown): string[] {
  const items = [value].flat().flatMap((each) => asText(each).split(/[,;|\n]/))
  return [...new Set(items)].filter((item) => item.length <= REFUSAL_LENGTH_MAX)
}

/** Whether a value stops mail, as that of a property of this kind. */
function isReason(kind: Kind, text: string): boolean {
  switch (kind) {
    case 'status':
      return isRefusal(text)
    case 'allowed':
    case 'marketing_status':
      return (
        isRefusal(text) ||
        isNo(text) ||
        CROSS.test(text) ||
        phraseOfValue(text).kind === 'withdrawn' ||
        // Pipedrive's, of who is not written to any more.
        (kind === 'marketing_status' && plainText(text) === 'archived')
      )
    case 'deliverable':
      return isRefusal(text) || isNo(text) || CROSS.test(text) || plainText(text) === 'invalid'
    case 'blocked':
      return isClearYes(text) || isRefusal(text)
    case 'bounces':
      return isClearYes(text) || isRefusal(text) || HARD.test(text)
    case 'tags':
      return saysOptOut(text)
    case 'bounced':
      return !isDenial(text) && !SOFT.test(text)
    default:
      return !isDenial(text)
  }
}

const RULES: readonly ConsentRule[] = ['do_not_contact', 'unsubscribed', 'bounced']

/** How much a value stops: 0 for nothing, and most for the service's own `do_not_contact`. */
export function strictness(name: string, value: unknown): number {
  const rule = value === undefined || value === null ? null : ruleBrokenBy(name, value)
  return rule === null ? 0 : RULES.length - RULES.indexOf(rule)
}

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
  return plainText(text) === '' && !TICK.test(text) && !CROSS.test(text)
}

/** Clearly no opt-out. Spreadsheets write FALSE in the language of the person who uses them. */
function isDenial(text: string): boolean {
  const plain = plainText(text)
  // A cross marks a box, or says no: an opt-out counts.
  if (TICK.test(text) || CROSS.test(text)) return false
  if (isNo(text) || UNSAID.has(plain) || AGREEMENTS.has(plain)) return true
  return NOT_OPTED_OUT.test(plain) || NO_DATE.test(plain) || ADDRESS.test(text)
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
  if (startsWithAgreement(text) && !NEGATION.test(text)) return true
  if (NAMED_DATE.test(text) && !Number.isNaN(Date.parse(text))) return true
  return /^[0-9]/.test(plain) && !isZero(plain) && !NO_DATE.test(plain)
}

/** "Ja, erteilt am 3.4.2022", "Opted in via web form", "Yes - via website". */
function startsWithAgreement(text: string): boolean {
  if (AGREEMENT_SENTENCE.test(text)) return true
  const starts = [/^\P{L}*\p{L}+/u, /^\P{L}*\p{L}+\P{L}+\p{L}+/u].map((start) => plainText(start.exec(text)?.[0] ?? ''))
  return starts.some((start) => start.length > 1 && (YES.has(start) || AGREEMENTS.has(start)))
}

/** A yes, how often, or when it happened. */
function isClearYes(text: string): boolean {
  const plain = plainText(text)
  if (TICK.test(text) || CROSS.test(text) || YES.has(plain)) return true
  return (Number(text) > 0 || /^\d{4}-\d\d/.test(text)) && !NO_DATE.test(plain)
}

/** Clearly a refusal, as the value of a property that says many other things too. */
function isRefusal(text: string): boolean {
  return REFUSALS.has(plainText(text)) || saysOptOut(text)
}

const REFUSAL_LENGTH_MAX = 40
/** No word or date that counts is longer. */
const JUDGED_LENGTH_MAX = 500

/** Whether a value would be an opt-out as a name, without other words: "Do not contact", "Désabonné". */
function saysOptOut(text: string): boolean {
  if (text.length > REFUSAL_LENGTH_MAX) return false
  const { kind, isExact } = phraseOfValue(text)
  return isExact && (kind === 'opted_out' || kind === 'bounced')
}

/** `0`, `0.0` and `0000-00-00`. */
function isZero(plain: string): boolean {
  return /^0+$/.test(plain)
}

const TICK = /[\u221a\u2611\u2612\u2705\u2713\u2714\u{1f5f9}]/u
const CROSS = /[\u2715-\u2718\u274c\u274e\u{1f5f4}\u{1f5f7}]/u
/** A link to unsubscribe, or to what was agreed to. */
const ADDRESS = /^<?(?:https?:\/\/|mailto:)/i
const SOFT = /^(?:soft|transient|temporary|undetermined)/i
const HARD = /^(?:hard|permanent)/i
const BOUNCES = /bounce|invalid|undeliverable|cleaned/
const OWN_CHOICES = /unsub|complain|spam|user|manual|optout|optedout/
const YES = words(`
  true t yes y j o s on x checked wahr prawda истина істина doğru igaz tosi pravda adevărat vrai verdadero verdadeiro vero waar ja oui si sí sim sand да tak ano áno evet igen kyllä так
  はい 是 예 네`)
const NO = words(`
  false f no n off never unchecked fałsz ложь yanlış nepravda usann fals falsch faux falso onwaar falsk falskt nein non nee nej nei não nao nie ne ei нет ні hayır nem
  nu yok hamis epätosi いいえ 否 不 아니오 아니요`)
const UNSAID = words('none null nil undefined na nan blank empty')
/** Such as Klaviyo's `NEVER_SUPPRESSED`. */
const NOT_OPTED_OUT =
  /^(?:no|not|never)(?:opt(?:ed)?out|unsubscribed|(?:hard)?bounced?|suppressed|(?:black|block)listed|complain(?:ed|ts?))$/
/** What systems store for a time that never came: the first day of .NET, and that of Unix. */
const NO_DATE = /^(?:00010101|18991230|19000101|19700101)(?:t?0+z?)?$/
const NAMED_DATE =
  /^(?:(?:mon|tue|wed|thu|fri|sat|sun)|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,? *\d/i
const AGREEMENT_SENTENCE = /^(?:yes\W+)?i (?:agree|accept|consent)\b|^yes\W+i (?:want|would)\b/i
const NEGATION =
  /(?<!\p{L})(?:no|not|never|none|nothing|stop|opt(?:ed)?[ -]?out|unsubscribed?|nicht|kein\p{L}*|pas|non|nunca|nie|ikke|inte|niet|geen|non|não)(?!\p{L})/iu
const AGREEMENTS = words(`
  subscribed subscribe optedin optin singleoptin doubleoptin confirmedoptin confirmed confirm active explicit implicit
  express expressed implied agreed accepted accept consented granted given allow allowed send valid deliverable
  delivered ok enabled doi signed obtained approved clean email liegtvor accordé accordée donné donnée otorgado otorgada aceptó
  single double daily weekly monthly abonniert angemeldet erteilt zugestimmt bestätigt erlaubt abonné abonnée inscrit
  inscrite accepté acceptée suscrito suscrita aceptado inscrito inscrita aceito iscritto iscritta accettato ingeschreven
  aangemeld geaccepteerd prenumererar accepterat tilmeldt påmeldt samtykket zapisany wyrażona udělen подписан согласен
  підписаний 同意 已同意 已订阅 同意する 購読中 동의`)
const REFUSALS = words(`
  unsub notsubscribed nonsubscribed nonsubscriber noconsent notoptedin suppressed usersuppressed cleaned bounced bounce
  complained complaint spam spamcomplaint reportedasspam markedasspam nonmarketable undeliverable invalidemail`)

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/).map(plainText))
}

/** A text in lower case, without accents, and without anything but letters and digits. Of a long text, only the start. */
function plainText(text: string): string {
  // Most values are a word or a number, and normalizing is slow.
  if (/^[a-z0-9]*$/.test(text)) return text
  const isLonger = text.length > JUDGED_LENGTH_MAX && /[\p{L}\p{N}]/u.test(text.slice(JUDGED_LENGTH_MAX))
  const plain = withoutAccents(text.slice(0, JUDGED_LENGTH_MAX))
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
  // Then it is more than the word that it starts with.
  return isLonger ? `${plain}etc` : plain
}
