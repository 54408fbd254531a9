/*
 * What a field of a response says about people. Its schema says it under `x-personal`, and whatever shows less than the
 * whole response reads it there: the field's name decides nothing.
 */

/** What a personal value is: the first part of its pseudonym. `value`: the tenant marked it. */
export const KINDS = [
  'firstname',
  'lastname',
  'name',
  'username',
  'email',
  'phone',
  'address',
  'birthday',
  'url',
  'ip',
  'device',
  'number',
  'value',
] as const
export type Kind = (typeof KINDS)[number]

/** The kind of a field: free text has no pseudonym, because a text is withheld whole. */
export type FieldKind = Kind | 'free-text'

/**
 * Which known people a text may name: `all`, in any words; `full-names`, because single words of it are names of other
 * things too, such as a company's; `none`, because it is a word of the service or of the tenant's systems. Email
 * addresses and phone numbers may be in each.
 */
export type Mentions = 'all' | 'full-names' | 'none'

/**
 * Fields whose names the tenant, its visitors or its systems chose.
 * - `contact`, `company`: properties of the contact or the company that the object is about.
 * - `person`: fields about somebody.
 * - `any`: fields of anything, such as the data of an event.
 * - `query`: the parameters of a list, some of which are words to search for.
 * - `template`: texts that were written for all contacts.
 */
export type Bag = 'contact' | 'company' | 'person' | 'any' | 'query' | 'template'

/** What a field is. */
export type Mark =
  /** A value that is personal in itself. */
  | { kind: FieldKind }
  | { mentions: Mentions }
  | { bag: Bag }
  /** The id of the contact that the object is about. */
  | { is: 'contact' }
  /** Something that is never shown where personal values are hidden. */
  | { is: 'withheld' }
  /**
   * A value of the property, header or dimension that another field names, in the same object or around it. If that field is a
   * list, an item is of the property at the same place.
   */
  | { namedBy: string }
  /** In a record of properties: a value of the property that is the record's key. */
  | { is: 'value-of-key' }
  /** It depends on another field of the object, or of one around it. */
  | { when: string; has: readonly string[]; mark: Mark; otherwise: Mark }

/** A schema with its mark. */
export type Marked = { 'x-personal': Mark }

function marked<const Each extends Mark>(mark: Each): { 'x-personal': Each } {
  return { 'x-personal': mark }
}

/** A value that is personal in itself, such as an address; `free-text`: what a person wrote or said. */
export const personal = (kind: FieldKind) => marked({ kind })
/** A text that may name anybody, such as a title, a URL or an explanation. */
export const TEXT = marked({ mentions: 'all' })
/** A name that stays legible, such as an event's or a company's: only full names of people are hidden in it. */
export const LABEL = marked({ mentions: 'full-names' })
/** A word of the service or a name in the tenant's systems, such as a code, a property or a source. */
export const WORD = marked({ mentions: 'none' })
export const WITHHELD = marked({ is: 'withheld' })
/** The id of the contact that the object is about. */
export const ABOUT_CONTACT = marked({ is: 'contact' })
/** The value of a property in a record of properties. */
export const VALUE_OF_KEY = marked({ is: 'value-of-key' })
/** Fields whose names others chose. */
export const bag = (of: Bag) => marked({ bag: of })
/** A value of the property, header or dimension that another field names. */
export const valueNamedBy = (field: string) => marked({ namedBy: field })
/** What a field is if another field, of the object or around it, has one of some values, and if it has none of them. */
export function when(field: string, has: readonly string[], mark: Marked, otherwise: Marked): Marked {
  return marked({ when: field, has, mark: mark['x-personal'], otherwise: otherwise['x-personal'] })
}
