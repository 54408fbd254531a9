import type { SourceKind } from './record-source.ts'

/**
 * How far a source is believed. `unverified`: it came from a page, where anybody can say anything. `guessed`: an
 * enrichment source looked it up somewhere. `verified`: the tenant's own people and systems.
 */
type Standing = 'verified' | 'unverified' | 'guessed'

const STANDING: Record<SourceKind, Standing> = {
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
  analytics: 'verified',
}

/** Whose values a source may replace, beside its own; it may always fill a blank. */
const REPLACES: Record<Standing, readonly Standing[]> = {
  verified: ['verified', 'unverified', 'guessed'],
  unverified: ['unverified'],
  guessed: [],
}

/** Whose value stands when the one that won is withdrawn: the first of these that there is. */
const PREFERENCE: readonly Standing[] = ['verified', 'unverified', 'guessed']

/** Whether a source of one kind may replace what a source of another kind has said. */
export function mayReplace(kind: SourceKind, other: SourceKind): boolean {
  return REPLACES[STANDING[kind]].includes(STANDING[other])
}

/** Whether a source is believed and another is not: it replaces that one's values whenever they were said. */
export function outranks(kind: SourceKind, other: SourceKind): boolean {
  return mayReplace(kind, other) && !mayReplace(other, kind)
}

/** A place in the order in which sources are asked for a value; lower comes first. */
export function preferenceOf(kind: SourceKind): number {
  return PREFERENCE.indexOf(STANDING[kind])
}

/** Whether what this source says comes from pages. The names of the service's own sources are those of their kinds. */
export function isUnverified(source: string | undefined): boolean {
  return source !== undefined && Object.hasOwn(STANDING, source) && STANDING[source as SourceKind] === 'unverified'
}
