import { CONTACT_PROPERTIES, namesOf } from '../contacts/property-catalogue.ts'

/** The column names that mean one of ours in files of any origin, the best first. Outlook and others translate them. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  external_id: ['External ID', 'Record ID', 'Contact ID', 'ID'],
  email: [
    ...['Email', 'Primary Email', 'Email Address', 'Email Addresses', 'Main Email', 'Primary Email Address', 'Email 1'],
    ...['Email 1 Value', 'Email 1 Address', 'Work Email', 'Email Work', 'Business Email', 'Work Email Address', 'Mail'],
    ...['Mail Address', 'E-Mail-Adresse', 'Mailadresse', 'E-Mail: Adresse', 'Adresse de messagerie', 'Adresse e-mail'],
    ...['Adresse électronique', 'Adresse mail', 'Courriel', 'Dirección de correo electrónico', 'Correo electrónico'],
    ...['Correo', 'Indirizzo di posta elettronica', 'Indirizzo e-mail', 'Posta elettronica', 'E-mailadres'],
    ...['Endereço de email', 'Endereço de e-mail', 'Endereço de correio eletrónico', 'Endereço de correio electrónico'],
    ...['Endereço de correio eletrônico', 'Correio eletrônico', 'Correio eletrónico', 'Adres e-mail', 'Adres email'],
    ...['Adres poczty e-mail', 'Adres poczty elektronicznej', '電子メール アドレス', '電子メール', 'メールアドレス'],
    ...['Eメール', 'メール', 'E-postadress', 'E-post', 'E-postadresse', 'E-mailadresse', 'Sähköpostiosoite'],
    ...['Sähköposti', 'E-mailová adresa', 'E-mailova adresa', 'E-mail cím', 'E-posta adresi', 'E-posta'],
    ...['Адрес эл. почты', 'Адрес электронной почты', 'Электронная почта', 'Эл. почта', 'Почта', 'Електронна пошта'],
    ...['电子邮件地址', '电子邮件', '邮箱', '電子郵件地址', '電子郵件', '전자 메일 주소', '이메일 주소', '이메일'],
    ...['Adresă de e-mail', 'Διεύθυνση ηλ. ταχυδρομείου', 'כתובת דואר אלקטרוני', 'عنوان البريد الإلكتروني'],
    ...['Email Home', 'Home Email', 'Personal Email', 'Email Other', 'Other Email'],
  ],
  firstname: ['Given Name', 'Forename', 'Vorname', 'Prénom', 'Nombre', 'Voornaam', 'Primeiro nome', 'Imię', '名'],
  lastname: [
    'Surname',
    'Family Name',
    'Nachname',
    'Apellidos',
    'Apellido',
    'Cognome',
    'Achternaam',
    'Apelido',
    'Nazwisko',
    '姓',
  ],
  company: [
    ...['Company Name', 'Organization', 'Organisation', 'Organization Name', 'Organization 1 Name', 'Firma', 'Société'],
    ...['Empresa', 'Organización', 'Società', 'Azienda', 'Bedrijf', '会社名', '会社', 'Associated Company'],
  ],
  company_domain: ['Company Domain Name', 'Domain'],
  jobtitle: [
    ...['Position', 'Organization Title', 'Organization 1 Title', 'Funktion', 'Fonction', 'Puesto', 'Cargo'],
    ...['Posizione', 'Functie', 'Stanowisko', '役職', 'Title'],
  ],
  lifecyclestage: ['Stage'],
  numberofemployees: ['Employees'],
  phone: ['Phone Number', 'Phone 1 Value', 'Business Phone', 'Phone Work'],
  city: ['Business City', 'Address 1 City'],
  country: ['Country/Region', 'Business Country/Region', 'Address 1 Country'],
  state: ['State/Region', 'Business State', 'Address 1 Region'],
  linkedin_url: ['LinkedIn', 'LinkedIn Profile'],
  // The columns that a download of failed rows adds.
  ignore: ['import_row', 'error_code', 'error_message'],
}

/** Lower is better; a column whose name is ours exactly is `OWN`. */
const OWN = -1
const BY_PLAIN_NAME = new Map([
  ...Object.entries(NAMES).flatMap(([target, names]) =>
    names.map((name, rank) => [plainHeader(name), { target, rank }] as const),
  ),
  ...[...Object.keys(NAMES), ...namesOf(CONTACT_PROPERTIES, ({ isDerived }) => !isDerived)].map(
    (target) => [plainHeader(target), { target, rank: OWN }] as const,
  ),
])

/** Where a column probably goes, and how well its name says so. */
export interface NamedTarget {
  /** `email`, `external_id`, `ignore` or the name of a property. */
  target: string
  rank: number
}

/** What the name of a column means in a file of any origin; null if it is a property of its own. */
export function usualTarget(header: string): NamedTarget | null {
  if (header.trim() === '__proto__') return { target: 'ignore', rank: OWN }
  return BY_PLAIN_NAME.get(plainHeader(header)) ?? null
}

/** Whether a column is named as one for addresses, also for further ones such as `E-mail 2 - Value` and `E-Mail 2: Adresse`. */
export function isAddressColumn(header: string): boolean {
  return [header.replace(/[2-9]/g, '1'), header.replace(/\d/g, '')].some(
    (name) => usualTarget(name)?.target === 'email',
  )
}

/** A name without case, accents and punctuation: `E-mail 1 - Value` is `email1value`. */
export function plainHeader(header: string): string {
  return shortHeader(header)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

/** Attio writes `Name > First name`, Pipedrive `Person - Email - Work`. */
function shortHeader(header: string): string {
  return header
    .replace(/^.*>/s, '')
    .replace(/^\s*person - /i, '')
    .replace(/[\p{Cf}\p{Cc}]/gu, ' ')
    .trim()
}
