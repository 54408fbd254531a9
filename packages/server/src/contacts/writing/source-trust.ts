import type { SourceKind } from './source-records.ts'

/**
 * The trust level of a source. `unverified`: a page, from which anyone can send anything. `guessed`: an enrichment
 * source, or product analytics, whose values mostly come from pages. `verified`: the tenant's own people and systems.
 */
type TrustLevel = 'verified' | 'unverified' | 'guessed'

const TRUST_LEVELS: Record<SourceKind, TrustLevel> = {
  manual: 'verified',
  form: 'unverified',
  tracker: 'unverified',
  identify: 'verified',
  import: 'verified',
  agent: 'verified',
  crm: 'verified',
  enrichment: 'guessed',
  email: 'verified',
  messaging: 'verified',
  analytics: 'guessed',
}

/** The sources whose values a source may replace, besides its own; any source may fill a blank. */
const REPLACES: Record<TrustLevel, readonly TrustLevel[]> = {
  verified: ['verified', 'unverified', 'guessed'],
  unverified: ['unverified'],
  guessed: [],
}

/** When the winning value is removed, the first of these with a value replaces it. */
const PREFERENCE: readonly TrustLevel[] = ['verified', 'unverified', 'guessed']

/** Whether a source of one kind may replace the values of a source of another kind. */
export function mayReplace(kind: SourceKind, other: SourceKind): boolean {
  return REPLACES[TRUST_LEVELS[kind]].includes(TRUST_LEVELS[other])
}

/** Whether only the first source is verified; it then replaces the other's values, whatever their times. */
export function outranks(kind: SourceKind, other: SourceKind): boolean {
  return mayReplace(kind, other) && !mayReplace(other, kind)
}

/** A source's rank when choosing a value; lower comes first. */
export function preferenceOf(kind: SourceKind): number {
  return PREFERENCE.indexOf(TRUST_LEVELS[kind])
}

/** Whether this source's values come from pages. Built-in sources are named after their kinds. */
export function isUnverified(source: string | undefined): boolean {
  return (
    source !== undefined && Object.hasOwn(TRUST_LEVELS, source) && TRUST_LEVELS[source as SourceKind] === 'unverified'
  )
}
