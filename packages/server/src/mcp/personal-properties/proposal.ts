import type { SampledProperty } from '../../events/data-keys.ts'
import type { KindOfName } from '../../personal/personal-names.ts'
import type { FieldKind, Kind } from '../../platform/personal.ts'

/*
 * What a tenant may want to change about a property. A proposal changes nothing: names and values say too little, and a
 * person knows what a property means.
 */

export const REASONS = ['name', 'values', 'few_values'] as const

/** A change that a person may make. */
export interface Proposal {
  change: 'hide' | 'show'
  /**
   * `name`: a part of the name is of a personal property, or it is of a sensitive one. `values`: most values are personal
   * by their form, or name contacts. `few_values`: the name looks personal, but many records share each value.
   */
  because: (typeof REASONS)[number]
  /** How many values were looked at. */
  values: number
  /** How many of them look personal. */
  personal_values: number
}

/** Facts about people that identify nobody and that nobody tells everyone. */
const SENSITIVE =
  /^(salary|salaries|wage|wages|income|earnings|networth|credit ?score|debt|religion|religious|faith|ethnicity|ethnic|race|nationality|citizenship|gender|sex|pronouns?|sexual ?orientation|marital ?status|children|pregnan(t|cy)|health|diagnos[ie]s|disabilit(y|ies)|disabled|medical|medication|allerg(y|ies)|blood ?type|weight|height|politic(s|al)|party|union|criminal|conviction|age)$/

/** Kinds whose names are ambiguous: `handle` and `location` may be of a thing. */
const AMBIGUOUS: readonly FieldKind[] = ['address', 'url', 'username', 'device', 'free-text']

/** A text with as many records for each value is a category, and tells little about one of them. */
const SHARED_BY = 20

/**
 * @param kind what its values are taken for; null if AI agents see them. @param isChosen whether the tenant decided it
 * @param recognized for each value, the kind of the personal value that it is; null for others
 */
export function proposalFor(
  property: SampledProperty,
  { kind, isChosen }: { kind: FieldKind | null; isChosen: boolean },
  recognized: readonly (Kind | null)[],
  kindOfName: KindOfName,
): Proposal | null {
  if (isChosen) return null
  const personalValues = recognized.filter((each) => each !== null).length
  const propose = (change: Proposal['change'], because: Proposal['because']): Proposal => ({
    change,
    because,
    values: recognized.length,
    personal_values: personalValues,
  })
  const isCategory = property.differentValues * SHARED_BY <= property.records
  if (kind !== null) {
    return isCategory && personalValues === 0 && AMBIGUOUS.includes(kind) ? propose('show', 'few_values') : null
  }
  if (personalValues * 2 >= recognized.length && personalValues > 0) return propose('hide', 'values')
  if (isSensitive(property.name)) return propose('hide', 'name')
  // `email_opt_in` and `phone_calls` are no values of a person, and have few different ones, or numbers.
  const isText = property.values.some((value) => /\p{L}{2}/u.test(value) && !/^(true|false|yes|no)$/i.test(value))
  return isText && !isCategory && hasPersonalPart(property.name, kindOfName) ? propose('hide', 'name') : null
}

/** The words of a name: `emergencyContact_name` has three. */
function wordsOf(name: string): string[] {
  return name
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
}

/** The runs of at most three words. */
function runsOf(words: readonly string[]): string[][] {
  return words.flatMap((_, start) => [1, 2, 3].map((length) => words.slice(start, start + length)))
}

function isSensitive(name: string): boolean {
  return runsOf(wordsOf(name)).some((run) => SENSITIVE.test(run.join(' ')))
}

function hasPersonalPart(name: string, kindOfName: KindOfName): boolean {
  return runsOf(wordsOf(name)).some((run) => kindOfName(run.join('')) !== null)
}
