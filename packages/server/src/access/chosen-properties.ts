import { isAlwaysPersonal, plainName } from '../contacts/property-names.ts'
import { shown } from '../platform/characters.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'

/** What a tenant says about properties and fields of events: their names decide about all others. */
export interface ChosenProperties {
  /** Hidden from AI agents. */
  personal: string[]
  /** Shown to AI agents, although their names or their values look personal. */
  visible: string[]
}

export interface ListChanges {
  added: string[]
  removed: string[]
}

/**
 * Both lists after a request that replaces one of them, or both. A name that joins one list leaves the other. Of names that
 * differ only in case, spaces, hyphens and underscores, the first stays.
 * @throws ServiceError 400 for a property that is personal in every workspace, and for a name in both lists
 */
export function chosenAfter(before: ChosenProperties, sent: Partial<ChosenProperties>): ChosenProperties {
  const problems = problemsOf(sent)
  if (problems.length > 0) throw validationError(problems)
  return {
    personal: unique(sent.personal ?? without(before.personal, sent.visible)),
    visible: unique(sent.visible ?? without(before.visible, sent.personal)),
  }
}

/** What changed in each list. */
export function changesOf(
  before: ChosenProperties,
  after: ChosenProperties,
): Record<keyof ChosenProperties, ListChanges> {
  return {
    personal: listChanges(before.personal, after.personal),
    visible: listChanges(before.visible, after.visible),
  }
}

function problemsOf({ personal = [], visible = [] }: Partial<ChosenProperties>): ErrorDetail[] {
  const hidden = new Set(personal.map(plainName))
  return visible.flatMap((name, index) => {
    const path = `visible_properties[${index}]`
    if (isAlwaysPersonal(name)) {
      const message = `${shown(name)} is personal in every workspace. A key with redact_personal_data: false shows it to an AI agent`
      return [{ path, message }]
    }
    return hidden.has(plainName(name)) ? [{ path, message: `${shown(name)} is in personal_properties too` }] : []
  })
}

/** Whether a list has a name, in any spelling. */
export function isListed(names: readonly string[], name: string): boolean {
  return names.some((each) => plainName(each) === plainName(name))
}

function unique(names: readonly string[]): string[] {
  return [...Map.groupBy(names, plainName).values()].flatMap(([name = '']) => name.trim())
}

function without(names: readonly string[], others: readonly string[] = []): string[] {
  const left = new Set(others.map(plainName))
  return names.filter((name) => !left.has(plainName(name)))
}

function listChanges(before: readonly string[], after: readonly string[]): ListChanges {
  return {
    added: after.filter((name) => !before.includes(name)),
    removed: before.filter((name) => !after.includes(name)),
  }
}
