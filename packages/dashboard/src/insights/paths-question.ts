import type { InsightPathsInput } from '../api/types.ts'
import type { FieldTypes } from '../filters/draft-filter.ts'
import { type SharedDraft, sharedDraft, sharedQuestion } from './draft.ts'
import { isNumber, isOneOf, isShared } from './question.ts'

export type PathsQuestion = InsightPathsInput

export const PATH_KINDS = ['pages', 'events'] as const
export const ENDS = ['all', 'from', 'to'] as const
/** The service's limits, and what it takes without a number. */
export const DEPTHS = [2, 3, 4, 5, 6] as const
const DEPTH_DEFAULT = 4

export function isPaths(value: unknown): value is PathsQuestion {
  if (!isShared(value)) return false
  const { kind, from, to, depth, limit } = value
  const isName = (name: unknown) => name === undefined || typeof name === 'string'
  return (
    typeof kind === 'string' &&
    isOneOf(PATH_KINDS, kind) &&
    isName(from) &&
    isName(to) &&
    isNumber(depth) &&
    isNumber(limit)
  )
}

export interface PathsDraft extends SharedDraft {
  kind: PathsQuestion['kind']
  /** Which end of a path is named, by `name`. */
  end: (typeof ENDS)[number]
  name: string
  depth: number
  limit: number | undefined
}

export function pathsDraft(question: PathsQuestion): PathsDraft {
  const { kind, from, to, depth = DEPTH_DEFAULT, limit } = question
  const end = from !== undefined ? 'from' : to !== undefined ? 'to' : 'all'
  return { ...sharedDraft(question), kind, end, name: from ?? to ?? '', depth, limit }
}

/** Null while the end of the paths has no name. */
export function pathsQuestion(draft: PathsDraft, types: FieldTypes): PathsQuestion | null {
  const { kind, end, depth, limit } = draft
  const name = draft.name.trim()
  if (end !== 'all' && name === '') return null
  return {
    ...sharedQuestion(draft, types),
    kind,
    ...(end === 'all' ? {} : { [end]: name }),
    depth,
    ...(limit === undefined ? {} : { limit }),
  }
}
