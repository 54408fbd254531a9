import type { NamedContact, PersonalRecord } from '../../contacts/personal-values.ts'
import { ALWAYS_PERSONAL } from '../../contacts/property-names.ts'
import type { KindOfName } from '../../personal/personal-names.ts'
import type { Kind } from '../../platform/personal.ts'
import { createPhrases, type FoundValue, type Phrase } from './phrases.ts'
import { contactPseudonym, normalize, strangerPseudonym } from './pseudonyms.ts'

/** What is known about the people in an output. */
export interface Known {
  records: readonly PersonalRecord[]
  named: readonly NamedContact[]
  found: readonly (FoundValue & { item: string })[]
}

/** Where a value is: the contact that the surrounding object is about, and the item of the output's list. */
export interface TextPlace {
  owner: string | null
  item: string
}

/** The values to look for, and their pseudonyms. */
export interface Dictionary {
  /** @param owner the contact whose data the value is part of. @param isOwn whether it is certainly that contact's value */
  pseudonymOf(kind: Kind, value: string, owner: string | null, isOwn: boolean): string
  /** Whether a phone number belongs to one of the people. */
  isKnownPhone(digits: string): boolean
  /** Replaces the values within a text. @param onlyFullNames leaves single words */
  replaceIn(text: string, place: TextPlace, onlyFullNames: boolean): string
}

/**
 * @param records contacts named in the output. @param named contacts that a text may mention by their full name; none of
 * their other values is looked for. @param found personal values in the output itself, the only source for strangers'
 * values. @param issued gets every pseudonym with its value.
 */
export function createDictionary(
  { records, named, found }: Known,
  kindOfName: KindOfName,
  key: Buffer,
  issued: Map<string, string>,
): Dictionary {
  /** The main values of each contact, by kind. */
  const mains = new Map<string, Map<Kind, string>>()
  const survivors = new Map<string, string>()
  /** Contacts by their address, which is unique. */
  const byEmail = new Map<string, string>()
  /** The contacts that have a value. */
  const owners = new Map<string, Set<string>>()
  const phrases = createPhrases()

  for (const record of records) addContact(record)
  for (const { contactId: id, firstname, lastname } of named) {
    if (mains.has(id)) continue
    mains.set(id, new Map([['name', normalize('name', `${firstname} ${lastname}`)]]))
    phrases.addFullName(firstname, lastname, { id })
  }
  for (const { kind, value, item } of found) if (!owners.has(keyOf(kind, value))) phrases.add({ kind, value }, { item })

  function addContact(record: PersonalRecord): void {
    const { contactId: id } = record
    for (const each of [id, ...record.mergedIds]) survivors.set(each, id)
    const main = new Map<Kind, string>()
    mains.set(id, main)
    for (const email of [record.email ?? [], record.otherEmails].flat()) byEmail.set(email, id)
    const own: FoundValue[] = [
      ...(record.email === null ? [] : [{ kind: 'email' as const, value: record.email }]),
      ...Object.entries(record.properties).sort(byImportance).flatMap(valuesOf),
    ]
    const others = [
      ...record.otherEmails.map((value) => ({ kind: 'email' as const, value })),
      ...record.others.flatMap((each) => Object.entries(each).flatMap(valuesOf)),
    ]
    const [first, last] = (['firstname', 'lastname'] as const).map((kind) => own.find((each) => each.kind === kind))
    const fullName = [first?.value, last?.value].filter((part) => part !== undefined).join(' ')
    if (fullName !== '') main.set('name', normalize('name', fullName))
    for (const { kind, value } of own) if (!main.has(kind)) main.set(kind, normalize(kind, value))
    // Full names first: if an address has the same words, the name says more.
    const all = [...own, ...others]
    const names = (kind: Kind) => [...new Set(all.filter((each) => each.kind === kind).map(({ value }) => value))]
    for (const given of names('firstname').slice(0, 5)) {
      for (const family of names('lastname').slice(0, 5)) phrases.addFullName(given, family, { id })
    }
    // The name in an address last: a first name says more than a username.
    for (const { kind, value } of all.toSorted((one, other) => +(one.kind === 'email') - +(other.kind === 'email'))) {
      const known = keyOf(kind, value)
      owners.set(known, (owners.get(known) ?? new Set()).add(id))
      phrases.add({ kind, value }, { id })
    }
  }

  function valuesOf([name, value]: [string, unknown]): FoundValue[] {
    const kind = kindOfName(name) ?? (name.toLowerCase() === 'name' ? 'name' : null)
    if (kind === null || kind === 'free-text') return []
    return [value].flat().flatMap((each) => {
      const text = typeof each === 'string' || typeof each === 'number' ? String(each) : ''
      return text.trim() === '' ? [] : [{ kind, value: text }]
    })
  }

  function ownerOf(kind: Kind, value: string, owner: string | null, isOwn: boolean): string | null {
    if (kind === 'email') {
      const address = normalize(kind, value)
      const contact = byEmail.get(address) ?? byEmail.get(withoutTag(address))
      if (contact !== undefined) return contact
    }
    const known = owners.get(keyOf(kind, value))
    const current = owner === null ? null : (survivors.get(owner) ?? null)
    if (current !== null && (isOwn || known?.has(current))) return current
    const [only] = known ?? []
    return known?.size === 1 ? (only ?? null) : null
  }

  function issue(kind: Kind, value: string, id: string | null): string {
    const normalized = normalize(kind, value)
    const isMain = id !== null && mains.get(id)?.get(kind) === normalized
    const pseudonym =
      id === null
        ? strangerPseudonym(kind, normalized, key)
        : contactPseudonym(kind, id, isMain ? null : normalized, key)
    if (!issued.has(pseudonym)) issued.set(pseudonym, value)
    return pseudonym
  }

  /** The pseudonym of a phrase at this place; null if it stands for nobody here. */
  function replacement({ values, strangers }: Phrase, { owner, item }: TextPlace): string | null {
    const current = owner === null ? null : (survivors.get(owner) ?? null)
    const ofOwner = current === null ? undefined : values.get(current)
    if (ofOwner) return issue(ofOwner.kind, ofOwner.value, current)
    const [contact] = values
    if (contact) return issue(contact[1].kind, contact[1].value, values.size === 1 ? contact[0] : null)
    const stranger = strangers.get(item)
    return stranger ? issue(stranger.kind, stranger.value, null) : null
  }

  return {
    pseudonymOf: (kind, value, owner, isOwn) => issue(kind, value, ownerOf(kind, value, owner, isOwn)),
    isKnownPhone: (digits) => digits.length >= 6 && owners.has(phoneKey(digits)),
    replaceIn: (text, place, onlyFullNames) =>
      phrases.replaceIn(text, onlyFullNames, (phrase) => replacement(phrase, place)),
  }
}

/** `ada@example.com` for `ada+news@example.com`. */
export function withoutTag(address: string): string {
  return address.replace(/\+[^@]*(?=@)/, '')
}

/** A key that equal values share, whatever their kind: sources name fields differently. */
function keyOf(kind: Kind, value: string): string {
  const normalized = normalize(kind, value)
  return kind === 'phone' && /^\d+$/.test(normalized) ? phoneKey(normalized) : normalized
}

/** The last digits of a number, which are the same with and without the country code. */
function phoneKey(digits: string): string {
  return `phone\n${digits.slice(-9)}`
}

function byImportance([one]: [string, unknown], [other]: [string, unknown]): number {
  const rank = (name: string) =>
    ALWAYS_PERSONAL.includes(name) ? ALWAYS_PERSONAL.indexOf(name) : ALWAYS_PERSONAL.length
  return rank(one) - rank(other) || (one < other ? -1 : 1)
}
