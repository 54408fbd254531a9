/**
 * What a word of a name, or of a value, says of consent. `out`, `bounced` and `complained` are clear among any other words;
 * the others only among words that are known.
 */
export type Role =
  /** An opt-out. */
  | 'out'
  /** An opt-out too, but such words have other meanings: a list of other things, or signing out. */
  | 'listed'
  | 'bounced'
  /** As Mailchimp's exports say it. */
  | 'cleaned'
  /** Often a number of soft bounces, or a complaint about a parcel: only a clear yes counts. */
  | 'bounce'
  | 'flag'
  | 'complained'
  | 'soft'
  /** `do not`, which is always followed by what not to do; `no` may also be a number. */
  | 'do_not'
  | 'no'
  /** Of words for mail, only what the person agreed to can be `not`: `non_marketing` is something else. */
  | 'not'
  | 'contact'
  | 'contacted'
  | 'mail'
  /** Also the address of letters. */
  | 'mailing'
  | 'newsletter'
  | 'marketing'
  | 'gdpr'
  /** An agreement. `may` and `like` agree only to mail or to contact, `like` less clearly. */
  | 'agree'
  | 'opted_in'
  | 'may'
  | 'like'
  | 'send'
  | 'withdrawn'
  | 'mailable'
  | 'disabled'
  | 'excluded'
  | 'bad'
  | 'good'
  | 'status'
  | 'subscription'
  | 'list'
  | 'checked'
  | 'campaign'
  | 'address'
  | 'preferences'
  | 'tags'
  /** Calls, texts and tracking: consent, but not to mail. */
  | 'other'
  /** No consent at all, whatever the words around. */
  | 'elsewhere'
  /** As a later word: the name is about a thing, such as the link to unsubscribe. */
  | 'thing'
  /** When, why or how. */
  | 'detail'
  /** Says nothing: systems, containers, forms of to be. */
  | 'filler'

/**
 * The words of each role in the languages whose values are known. Words that are often apart are written together:
 * `optout` is also "opt out". Accents do not count.
 */
const WORDS: Readonly<Record<Role, string>> = {
  out: `
    optout optouts optedout optsout optingout unsubscribed unsubscribe unsubscribes unsubscribing unsubscription unsub
    unsubs werbesperre werbewiderspruch kontaktsperre mailsperre newslettersperre désabonné désabonnée désabonnés désabonnement désinscrit
    désinscrite désinscription dadodebaja dadadebaja desuscrito desuscrita desuscripción descadastrado descadastrada
    descadastro desinscrito desinscrita desinscrição disiscritto disiscritta disiscrizione avprenumererad markkinointikielto
    suoramarkkinointikielto leiratkozott leiratkozás dezabonat dezabonată dezabonare abonelikiptali abonelikiptal listedençıktı
    отписан отписана отписался отписалась відписаний відписана відписався відписалася оптаут 配信停止 購読解除 登録解除
    オプトアウト 退订 退訂 取消订阅 取消訂閱 拒收 수신거부 구독취소 수신거절`,
  listed: `
    suppressed suppression suppressions suppressionlist blacklist blacklisted blocklist blocklisted denylist denylisted
    robinsonliste robinsonlist listarobinson dnc dne baja bajas abgemeldet abmeldung abmelden abbestellt abbestellung
    ausgetragen uitgeschreven uitschrijving afgemeld afmelding avregistrerad avanmäld afmeldt avmeldt frameldt frabedt wypisany
    wypisana wypisano odhlášen odhlášena odhlášeno odhlášení odhlášený отписка отписки відписка`,
  bounced: `
    bounced hardbounced hardbounce hardbounces bouncehard bounceshard bouncedhard bouncing bounceback unzustellbar`,
  cleaned: 'cleantime cleancampaigntitle cleancampaignid',
  bounce: 'bounce bounces',
  flag: 'blocked complaint complaints',
  complained: `
    complained spamcomplaint spamcomplaints spamcomplained spamcomplaining spamreport spamreports spamreported reportedspam
    reportedasspam markedasspam markedemailasspam`,
  soft: 'soft softbounce softbounces softbounced transient temporary',
  do_not: `
    donot dont doesnot doesnt never nolonger nicht nichtmehr niet inte ikke não ne pas nepas не не älä nevolat nie 不 请勿 請勿`,
  no: `
    no stop kein keine keinen keiner sin sem senza sans zonder geen ingen inga inget ej ei bez без нет ні pasde plusde
    nessun nessuna nincs nem fără nu`,
  not: 'not non',
  contact: `
    contact contacts disturb solicit solicitation market write approach mm kontaktieren
    anschreiben contacter contactar contattare contacteren benaderen kontakta kontakte kontaktować kontaktovat
    писать связываться звязуватися 連絡 联系 聯繫 연락`,
  contacted: 'contacted kontaktiert contacté',
  mail: `
    email emails mail mails emailing emailings mailto correo correos correoelectrónico courriel courriels correio eposta
    sähköposti epost почта письма письмо листи メール 邮件 郵件 메일 이메일`,
  mailing: 'mailing',
  newsletter: `
    newsletter newsletters mailinglist mailinglists mailings rundbrief infomail infolettre lettredinformation boletín
    boletines boletim nieuwsbrief nieuwsbrieven nyhetsbrev nyhedsbrev uutiskirje biuletyn biuletynu newslettera newsletteru
    zpravodaj hírlevél bülten buletin рассылка рассылки рассылку розсилка розсилки メルマガ メールマガジン ニュースレター 电子报 電子報
    뉴스레터`,
  marketing: `
    marketing marketingowa marketingowe marketingowej communication communications bulk mass promotional promo commercial werbe werbung werbemails werbemail werbepost
    publicité publicités publicidad publicidade pubblicità reclame reklam reklame reklama reklamy mainonta markkinointi
    marknadsföring markedsføring реклама рекламы реклами 広告 广告 廣告 광고`,
  gdpr: 'gdpr dsgvo rgpd lgpd',
  agree: `
    consent consents consented consenting permission permitted subscribed subscribe subscribes optstatus
    einwilligung einverständnis zustimmung consentement consentimiento consentimento consenso toestemming samtycke samtykke
    suostumus zgoda souhlas súhlas hozzájárulás consimțământ согласие згода 同意 동의 abonniert abonné abonnée suscrito
    suscrita iscritto iscritta geabonneerd подписан підписаний 購読 订阅 訂閱 구독`,
  opted_in: 'optin optins optedin optsin optingin optinstatus',
  may: `
    permissions accepts accept buyeraccepts allow allows allowed can may receive receives want wants acepta accetta aceita accepte`,
  like: `
    ok okay given granted erteilt enabled signup signedup abo abonnement anmeldung angemeldet erwünscht erlaubt inscrit inscrite inscrito inscrita
    ingeschreven aangemeld tilmeldt påmeldt zapisany autorisé permitido autorizado recevoir recibir receber ricevere ontvangen`,
  send: 'send sends sending enviar envoyer',
  withdrawn: `
    withdrawn withdrew revoked refused denied declined widerrufen abgelehnt retiré refusé revocado rechazado revogado
    recusado revocato rifiutato ingetrokken geweigerd återkallat отозвано відкликано 撤回 撤銷`,
  mailable: 'mailable emailable contactable kontaktierbar',
  disabled: 'suspended disabled',
  excluded: 'excluded exclude',
  bad: 'invalid bad undeliverable quarantined',
  good: 'valid deliverable',
  status: 'status state statut estado stato',
  subscription: 'subscription subscriber deliverability',
  list: 'list audience',
  checked: 'validation verification',
  campaign: 'campaign campaigns campaigntitle campaignid',
  address: 'address addresses adresse adresses adressen',
  preferences: 'preferences preference prefs subscriptions settings notifications',
  tags: 'tag tags label labels lists groups group segments segment etiketten étiquettes etiquetas etichette',
  other: `
    sms mms text texts texting fax faxes phone phones call calls calling phonecall phonecalls telephone telemarketing push
    whatsapp telegram viber voice voicemail mobile rcs chat inapp letter letters catalog catalogue postal postalmail directmail tracking geotracking profiling anrufen anruf telefon teléfono
    téléphone telefoon appeler llamar bellen звонить 電話 电话 전화`,
  elsewhere: `
    enrichment cookie cookies analytics personalization personalisation recording autorenew autorenewal renewal arbitration
    insurance training paperless loyalty sharing survey surveys ads advertising retargeting sale sell selling trial beta payment payments cheque invoice card page
    pages session sessions visit visits directory leaderboard`,
  thing: `
    url uri link links href label title count counts rate ratio percent percentage pct template token hash key level topic topics hours code groupid language
    locale version form button footer html copy policy landingpage endpoint webhook plan id ids noof`,
  detail: `
    at on date time timestamp ts type datetime datum fecha reason other cause source mode method updated changed since grund motif motivo 日 日時 날짜`,
  filler: `
    hs hubspot salesforce sfdc sf mailchimp klaviyo shopify pipedrive intercom activecampaign brevo sendinblue marketo mkto
    zoho dynamics pardot pi customerio cio mailjet braze drip omnisend iterable wix outreach salesloft apollo crm people
    person customer user member profile lead properties property traits attributes attribute attr custom field fields
    customfield meta metadata x cf udf info data c pc value values flag enum legacy old bool boolean raw is has was
    been be being of from for to the a an me them us you global globally all everything processing message messages
    material materials product yesno yn truefalse jaja janein ouinon sino it de la le les der die das den des du del
    di do da d l au aux am im von vom zum zur para por per met van till til för`,
}

/** Shorter words are only known alone: within others, they would be found everywhere. */
const WITHIN_LENGTH_MIN = 4
const SHORT_WITHIN = new Set(
  `is has was of to for from me all no not can may opt out bad dnc dne mm hs sf ok gdpr sms mms fax at on abo`.split(
    ' ',
  ),
)
const LATIN = /^[a-z]+$/

/** A text without accents. Japanese and Korean marks are letters of their own. */
export function withoutAccents(text: string): string {
  // Most names are plain, and normalizing is slow.
  if (/^[\0-\x7f]*$/.test(text)) return text
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFKC')
}

const ROLES: ReadonlyMap<string, Role> = new Map(
  Object.entries(WORDS).flatMap(([role, words]) =>
    words
      .trim()
      .split(/\s+/)
      .map((word) => [withoutAccents(word), role as Role] as const),
  ),
)
const WITHIN: ReadonlySet<string> = new Set(
  [...ROLES.keys()].filter((word) => !LATIN.test(word) || word.length >= WITHIN_LENGTH_MIN || SHORT_WITHIN.has(word)),
)
/** The lengths of these words, by their first letter. */
const WITHIN_LENGTHS: ReadonlyMap<number, ReadonlySet<number>> = new Map(
  [...Map.groupBy(WITHIN, (word) => word.charCodeAt(0))].map(([letter, words]) => [
    letter,
    new Set(words.map(({ length }) => length)),
  ]),
)
/** "Marked email as spam". */
const WORDS_TOGETHER_MAX = 4

/** The roles of a text's words in order; null for words that are unknown. Numbers have none. */
export function rolesOf(text: string): (Role | null)[] {
  const words = wordsOf(text)
  const roles: (Role | null)[] = []
  for (let at = 0; at < words.length; ) {
    let together = words[at] ?? ''
    let role = ROLES.get(together) ?? null
    let next = at + 1
    for (let end = at + 1; end < Math.min(words.length, at + WORDS_TOGETHER_MAX); end++) {
      together += words[end]
      const found = ROLES.get(together)
      if (found === undefined) continue
      role = found
      next = end + 1
    }
    roles.push(role)
    at = next
  }
  return roles
}

/** `HasOptedOut`, `has-opted-out` and `hasoptedout` are the same words. */
function wordsOf(text: string): string[] {
  const plain = withoutAccents(text).replace(/['’`]/g, '')
  const words: string[] = []
  for (const part of plain.match(/\p{L}+/gu) ?? []) {
    const whole = part.toLowerCase()
    const consistsOf = known(whole)
    if (consistsOf) words.push(...consistsOf)
    else if (part === whole) words.push(whole)
    else for (const hump of humps(part)) words.push(...(known(hump) ?? [hump]))
  }
  return words
}

function humps(part: string): string[] {
  const spaced = part.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
  return spaced.toLowerCase().split(' ')
}

/** Longer names are no single word: the search for the words in them takes time. */
const GLUED_LENGTH_MAX = 40

/** The known words that a text consists of, as few as possible; null if some part of it is unknown. */
function known(text: string): string[] | null {
  if (ROLES.has(text)) return [text]
  if (text.length > GLUED_LENGTH_MAX) return null
  // How few words lead to each position, and where the last of them starts.
  const counts: (number | undefined)[] = [0]
  const starts: number[] = []
  for (let from = 0; from < text.length; from++) {
    const count = counts[from]
    if (count === undefined) continue
    const lengths = WITHIN_LENGTHS.get(text.charCodeAt(from)) ?? []
    for (const length of lengths) {
      const to = from + length
      if (to > text.length || (counts[to] ?? Number.POSITIVE_INFINITY) <= count + 1) continue
      if (!WITHIN.has(text.slice(from, to))) continue
      counts[to] = count + 1
      starts[to] = from
    }
  }
  if (counts[text.length] === undefined) return null
  const words: string[] = []
  for (let to = text.length; to > 0; to = starts[to] ?? 0) words.unshift(text.slice(starts[to] ?? 0, to))
  return words
}
