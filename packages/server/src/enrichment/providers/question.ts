import { createHash } from 'node:crypto'
import type { CompanyRow } from '../../companies/company-object.ts'
import type { ContactRow } from '../../contacts/contact-row.ts'
import type { Properties } from '../../contacts/properties.ts'
import { shown } from '../../platform/characters.ts'
import { replaceVariables, variablesOf } from '../../platform/templates.ts'
import type { RequestTemplate } from './kinds.ts'
import type { Secrets } from './secrets.ts'

/** Whom a question is about. */
export interface Subject {
  contact: Pick<ContactRow, 'email' | 'properties'>
  company: Pick<CompanyRow, 'name' | 'domain' | 'properties'> | null
}

/** A request about somebody. */
export interface Question {
  /** The same for the same request to the same system, whatever its secrets are. */
  hash: string
  url: string
  headers: Record<string, string>
}

const CONTACT = /^contact\.([^\s.{}|][^{}|]{0,127})$/
const COMPANY = /^company\.([^\s.{}|][^{}|]{0,127})$/
const SECRET = /^secrets\.([a-z][a-z0-9_]{0,63})$/
/** What a header can have as it is. Other values are encoded as in a URL. */
const PRINTABLE = /^[\x20-\x7e]*$/

/** The texts of a template. */
const textsOf = ({ url, headers }: RequestTemplate) => [url, ...headers.map(({ value }) => value)]

/** The names of the secrets that a template uses. */
export function secretNamesIn(template: RequestTemplate): string[] {
  const names = textsOf(template)
    .flatMap(variablesOf)
    .flatMap(({ name }) => SECRET.exec(name)?.[1] ?? [])
  return [...new Set(names)]
}

/** The keys of contacts whose change changes the question: properties, `email` and `company_id`. */
export function inputsOf(template: RequestTemplate): string[] {
  const names = textsOf(template)
    .flatMap(variablesOf)
    .flatMap(({ name }) => {
      const key = CONTACT.exec(name)?.[1]
      if (key !== undefined) return [key === 'email_domain' ? 'email' : key]
      return COMPANY.test(name) ? ['company_id'] : []
    })
  return [...new Set(names)]
}

/** What is wrong with a text of a template; null if nothing is. */
export function problemOfTemplate(text: string): string | null {
  const unknown = variablesOf(text).find(({ name }) => ![CONTACT, COMPANY, SECRET].some((known) => known.test(name)))
  if (unknown) {
    return `has the unknown variable {{${shown(unknown.name)}}}. Use contact.email, contact.email_domain, contact.<property>, company.name, company.domain, company.<property> or secrets.<name>`
  }
  const rest = replaceVariables(text, () => '')
  return rest.includes('{{') || rest.includes('}}')
    ? 'has an unmatched {{ or }}. Write variables like {{contact.email}}'
    : null
}

/** The question about somebody; null if a value that it needs is missing. */
export function questionAbout(template: RequestTemplate, subject: Subject, secrets: Secrets): Question | null {
  let isComplete = true
  const filled = (text: string, encoded: (value: string) => string, secret: (name: string) => string) =>
    replaceVariables(text, ({ name, fallback }) => {
      const ofSecret = SECRET.exec(name)?.[1]
      if (ofSecret !== undefined) return secret(ofSecret)
      const value = valueIn(subject, name) ?? fallback
      // In a URL, dots alone would lead to another path.
      if (value === null || /^\.+$/.test(value)) isComplete = false
      return encoded(value ?? '')
    })
  const inHeader = (value: string) => (PRINTABLE.test(value) ? value : encodeURIComponent(value.toWellFormed()))
  const inUrl = (value: string) => encodeURIComponent(value.toWellFormed())
  const render = (secret: (name: string) => string) => ({
    url: filled(template.url, inUrl, (name) => encodeURIComponent(secret(name))),
    headers: template.headers.map(({ name, value }) => [name, filled(value, inHeader, secret)] as const),
  })
  const nameless = render((name) => `{{secrets.${name}}}`)
  if (!isComplete) return null
  const { url, headers } = render((name) => secrets[name] ?? '')
  const hash = createHash('sha256').update(JSON.stringify(nameless)).digest('hex')
  return { hash, url, headers: Object.fromEntries(headers) }
}

function valueIn({ contact, company }: Subject, name: string): string | null {
  const ofContact = CONTACT.exec(name)?.[1]
  if (ofContact === 'email') return contact.email
  if (ofContact === 'email_domain') return contact.email?.slice(contact.email.lastIndexOf('@') + 1) ?? null
  if (ofContact !== undefined) return textIn(contact.properties as Properties, ofContact)
  const ofCompany = COMPANY.exec(name)?.[1]
  if (!company || ofCompany === undefined) return null
  if (ofCompany === 'name' || ofCompany === 'domain') return company[ofCompany]
  return textIn(company.properties as Properties, ofCompany)
}

function textIn(properties: Properties, key: string): string | null {
  const value = Object.hasOwn(properties, key) ? properties[key] : undefined
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}
