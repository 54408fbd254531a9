import { isIP } from 'node:net'
import { type ChosenProperties, isListed } from '../../access/chosen-properties.ts'
import { readTenant } from '../../access/tenants.ts'
import { isUseless, isWithheldFromModels } from '../../agents/reasoning/withheld.ts'
import { contactsNamedIn, type NamedContact, personalRecordsOf } from '../../contacts/personal-values.ts'
import { plainName } from '../../contacts/property-names.ts'
import type { Values } from '../../operations/declare.ts'
import { kindOfProperty } from '../../personal/fields.ts'
import { type KindOfName, PERSONAL_NAMES, personalNames } from '../../personal/personal-names.ts'
import { parseEmail } from '../../platform/email.ts'
import { ServiceError } from '../../platform/errors.ts'
import { ABOUT_CONTACT, bag, type Kind, TEXT } from '../../platform/personal.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Schema } from './declared.ts'
import { createDictionary, type Dictionary, withoutTag } from './dictionary.ts'
import type { FoundValue } from './phrases.ts'
import {
  contactOfPseudonym,
  idsIn,
  isRedacted,
  mapPseudonyms,
  mapTexts,
  normalize,
  orderSecretOf,
  strangerPseudonym,
  WORD,
  withheld,
} from './pseudonyms.ts'
import { type Replacements, scrub } from './scrub.ts'
import { type Place, type Rules, redactJson } from './walk.ts'
import { mayBeName } from './words.ts'

export { contactOfPseudonym, redactionKeyOf } from './pseudonyms.ts'

/** Replaces personal values with pseudonyms. */
export interface Redactor {
  /**
   * Replaces personal values in what an operation returns.
   * @param schema says what its fields are: marks of `platform/personal.ts`
   * @param asked the operation's input, with its schema: contacts that it names count as named in the output
   */
  redact(values: Values, schema: Schema, asked?: { values: Values; schema: Schema }): Promise<Values>
  /** Replaces personal values in a text that has no schema, such as an error's or a question. */
  redactText(text: string, contactId?: string): Promise<string>
  /**
   * Replaces pseudonyms of contacts in what a caller sends, at any depth, with the values that they stand for.
   * @param contactId the only contact whose pseudonyms may occur; without it, any
   * @throws ServiceError 400 `unknown_pseudonym`, `pseudonym_of_another`
   */
  reveal<Sent>(sent: Sent, contactId?: string): Promise<Sent>
  /** @throws ServiceError 400 `pseudonym_not_allowed` if a text, at any depth, contains a pseudonym */
  refuse(sent: unknown): void
  /**
   * Replaces pseudonyms of a contact in a text that the caller can read again.
   * @throws ServiceError 400 as `reveal`, and `pseudonym_not_allowed` if a value would then be shown: not every value is
   * recognized within a text, for example a birthday
   */
  revealReadable(text: string, contactId: string): Promise<string>
  /** Whether values of a property with this name are replaced. */
  isPersonal(entity: 'contacts' | 'companies', property: string): Promise<boolean>
  /** A secret of the tenant for an order that tells nothing about the values. */
  orderSecret: string
  /** The real values of the pseudonyms issued so far, by pseudonym; for showing an answer to a person who may see them. */
  issued: ReadonlyMap<string, string>
}

/**
 * Redacts one tenant's outputs. The first output loads what the tenant says about its properties, so create a
 * redactor for each request. Each output needs at most two queries.
 * @param key the tenant's secret for pseudonyms of people who are not contacts: `redactionKeyOf`.
 */
export function createRedactor(tenant: Tenant, key: Buffer): Redactor {
  const issued = new Map<string, string>()
  let known: Promise<ChosenProperties> | undefined
  const readChosen = () => {
    known ??= readTenant(tenant).then(({ chosen }) => chosen)
    return known
  }
  const redactor: Redactor = {
    issued,
    orderSecret: orderSecretOf(key),
    refuse: (sent) => {
      mapTexts(sent, (text) => mapPseudonyms(text, refused))
    },
    isPersonal: async (entity, property) =>
      kindOfProperty(property, entity, personalNames(await readChosen())) !== null,
    revealReadable: async (text, contactId) => {
      const revealed = await redactor.reveal(text, contactId)
      if (revealed === text) return text
      const shown = mapPseudonyms(await redactor.redactText(revealed, contactId), () => '').toLowerCase()
      mapPseudonyms(text, (pseudonym) => {
        const value = realValueOf(pseudonym, issued).toLowerCase()
        return shown.includes(value) ? refused(pseudonym) : pseudonym
      })
      return revealed
    },
    reveal: async (sent, contactId) => {
      const ids = new Set<string>()
      mapTexts(sent, (text) => mapPseudonyms(text, (pseudonym) => noted(pseudonym, ids)))
      if (ids.size === 0) return sent
      if (contactId !== undefined && [...ids].some((id) => id !== contactId.toLowerCase())) throw ofAnother()
      const names = namesToRead(await readChosen())
      const records = await personalRecordsOf(tenant, { ids: [...ids], emails: [] }, names)
      // Afterwards, `issued` has everything that an output about these contacts would hide.
      const contacts = records.map(({ contactId, email, properties }) => ({
        contact_id: contactId,
        properties: { ...properties, ...(email === null ? {} : { email }) },
      }))
      await redactor.redact({ contacts }, CONTACTS)
      return mapTexts(sent, (text) => mapPseudonyms(text, (pseudonym) => realValueOf(pseudonym, issued))) as typeof sent
    },
    redactText: async (text, contactId) => {
      const named = contactId === undefined ? {} : { contact_id: contactId }
      return String((await redactor.redact({ ...named, text }, TEXT_ABOUT)).text)
    },
    redact: async (values, schema, asked) => {
      const chosen = await readChosen()
      const kindOfName = personalNames(chosen)
      const found = new Findings()
      redactJson(values, schema, { kindOfName, ...found.rules })
      if (asked) redactJson(asked.values, asked.schema, { kindOfName, ...found.rules })
      const named = found.words.size === 0 ? [] : await contactsNamedIn(tenant, [...found.words])
      const ids = [...found.ids, ...idsOfNamed(values, schema, named, kindOfName, key)]
      const isNobody = ids.length === 0 && found.emails.size === 0
      const people = { ids, emails: [...found.emails] }
      const records = isNobody ? [] : await personalRecordsOf(tenant, people, namesToRead(chosen))
      const dictionary = createDictionary({ records, named, found: found.values }, kindOfName, key, issued)
      return redactJson(values, schema, { kindOfName, ...rulesOf(dictionary) })
    },
  }
  return redactor
}

/**
 * Hides only what the models of agents never see: what a contact's prompt lacks. Everything else stays, names and texts too.
 * @param key as that of `createRedactor`. What is hidden cannot be revealed.
 */
export function createWithholder(tenant: Tenant, key: Buffer): Redactor {
  let known: Promise<ChosenProperties> | undefined
  const readChosen = () => {
    known ??= readTenant(tenant).then(({ chosen }) => chosen)
    return known
  }
  const same = (text: string) => text
  return {
    issued: new Map(),
    orderSecret: orderSecretOf(key),
    refuse: () => {},
    isPersonal: async (entity, property) => isWithheldFromModels(property, entity, await readChosen()),
    reveal: async (sent) => sent,
    revealReadable: async (text) => text,
    redactText: async (text) => text,
    redact: async (values, schema) => {
      const chosen = await readChosen()
      const ofVocabulary = personalNames(chosen)
      const isChosen = (name: string) => isListed(chosen.personal, name)
      const kindOfName: KindOfName = (name) => (isChosen(name) ? 'value' : ofVocabulary(name))
      const hidden = (kind: Kind, value: string) => strangerPseudonym(kind, normalize(kind, value), key)
      return redactJson(values, schema, {
        kindOfName,
        personal: (kind, value, { name }) =>
          kind === 'value' || isUseless(kind) || isChosen(name) ? hidden(kind, value) : value,
        text: (value, { name }) => (isChosen(name) ? hidden('value', value) : value),
        freeText: same,
        key: same,
        id: () => {},
      })
    },
  }
}

/** A text about a contact. */
const TEXT_ABOUT: Schema = { properties: { contact_id: ABOUT_CONTACT, text: TEXT } }
/** Contacts with their properties. */
const CONTACTS: Schema = {
  properties: { contacts: { items: { properties: { contact_id: ABOUT_CONTACT, properties: bag('contact') } } } },
}

/** The properties of contacts to read: all whose names may be personal. */
function namesToRead({ personal }: ChosenProperties) {
  return { names: PERSONAL_NAMES, marked: personal.map(plainName) }
}

function noted(pseudonym: string, ids: Set<string>): string {
  for (const id of idsIn(pseudonym)) ids.add(id)
  return pseudonym
}

function realValueOf(pseudonym: string, issued: ReadonlyMap<string, string>): string {
  const value = issued.get(pseudonym)
  if (value !== undefined) return value
  const message = `${pseudonym} does not stand for a value of a contact. Read the contact again and use a pseudonym from the result.`
  throw new ServiceError(400, 'unknown_pseudonym', message)
}

function refused(pseudonym: string): never {
  const message = `${pseudonym} cannot be used here, because the value that it stands for could not be hidden again. Leave it out.`
  throw new ServiceError(400, 'pseudonym_not_allowed', message)
}

/** A text about a contact is shown with that contact's values hidden, but not those of other contacts. */
function ofAnother(): ServiceError {
  const message = 'Only pseudonyms of the contact itself can be used here. Leave out those of other contacts.'
  return new ServiceError(400, 'pseudonym_of_another', message)
}

/** The ids of contacts whose full name is in a text. The output names them, like contacts whose id is in it. */
function idsOfNamed(
  values: Values,
  schema: Schema,
  named: readonly NamedContact[],
  kindOfName: KindOfName,
  key: Buffer,
): string[] {
  if (named.length === 0) return []
  const used = new Map<string, string>()
  const dictionary = createDictionary({ records: [], named, found: [] }, kindOfName, key, used)
  redactJson(values, schema, { kindOfName, ...rulesOf(dictionary) })
  return [...used.keys()].flatMap((pseudonym) => contactOfPseudonym(pseudonym) ?? [])
}

/** How many different words of an output are looked up as names. */
const WORDS_MAX = 5000

type Replacing = Omit<Rules, 'kindOfName'>

/** What a first walk through an output collects: the people that it may name, and the personal values in it. */
class Findings {
  readonly ids = new Set<string>()
  readonly emails = new Set<string>()
  /** Words in lower case, and pairs of them, which may be names. */
  readonly words = new Set<string>()
  readonly values: (FoundValue & { item: string })[] = []

  readonly rules: Replacing = {
    personal: (kind, value, { item }) => {
      if (isRedacted(value)) this.#addIds(value)
      else if (value.includes('@')) this.#scan(value)
      else this.values.push({ kind: kindOfValue(kind, value), value, item })
      return value
    },
    text: (value, { words }) => {
      this.#scan(value, words !== 'none')
      return value
    },
    freeText: (value) => value,
    key: (name) => {
      this.#scan(name)
      return name
    },
    id: (id) => this.#addIds(id),
  }

  #addIds(text: string): void {
    for (const id of idsIn(text)) this.ids.add(id)
  }

  #scan(text: string, hasNames = false): void {
    this.#addIds(text)
    scrub(text, {
      email: (address) => {
        this.emails.add(address)
        this.emails.add(withoutTag(address))
        return address
      },
      phone: (number) => number,
      isKnownPhone: () => false,
      ip: (address) => address,
      words: (part) => {
        if (hasNames) this.#addWords(part)
        return part
      },
    })
  }

  #addWords(text: string): void {
    let previous = ''
    for (const [raw] of text.matchAll(WORD)) {
      if (this.words.size >= WORDS_MAX) return
      const word = raw.toLowerCase()
      for (const name of [word, `${previous} ${word}`]) if (mayBeName(name)) this.words.add(name)
      previous = word
    }
  }
}

function rulesOf(dictionary: Dictionary): Replacing {
  const replacements = (place: Pick<Place, 'owner' | 'item' | 'words'>): Replacements => ({
    email: (address) => dictionary.pseudonymOf('email', address, place.owner, false),
    phone: (number) => dictionary.pseudonymOf('phone', number, place.owner, false),
    isKnownPhone: dictionary.isKnownPhone,
    ip: (address) => dictionary.pseudonymOf('ip', address, place.owner, false),
    words: (text) => (place.words === 'none' ? text : dictionary.replaceIn(text, place, place.words === 'full-names')),
  })
  return {
    personal: (kind, value, place) => {
      if (value.trim() === '' || isRedacted(value)) return value
      const address = value.includes('@') ? onlyEmailIn(value) : null
      if (address !== null) return dictionary.pseudonymOf('email', address, place.owner, place.isOwn)
      return dictionary.pseudonymOf(kindOfValue(kind, value), value, place.owner, place.isOwn)
    },
    text: (value, place) => scrub(value, replacements(place)),
    freeText: withheld,
    key: (name) => scrub(name, replacements({ owner: null, item: '', words: 'none' })),
    id: () => {},
  }
}

/** The kind of a value under `address`, which may be an IP address. */
function kindOfValue(kind: Kind, value: string): Kind {
  return kind === 'address' && isIP(value) ? 'ip' : kind
}

/** The address of `ada@example.com` and of `Ada <ada@example.com>`. */
function onlyEmailIn(text: string): string | null {
  const whole = parseEmail(text)
  if (whole !== null) return whole
  const [, within] = /^[^@<>]*<([^@<>]+@[^@<>]+)>\s*$/.exec(text) ?? []
  return within === undefined ? null : parseEmail(within)
}
