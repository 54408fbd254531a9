import { isAlwaysPersonal, plainName } from '../contacts/property-names.ts'
import { shown } from '../platform/characters.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'

/** What a tenant says about properties and fields of events: their names decide about all others. */
export interface ChosenProperties {
  /** Hidden from AI agents. */
  personal: string[]
  /** Shown to AI agents, although their names or their values look personal. */
  visible: string[]
}

interface ListChanges {
  added: string[]
  removed: string[]
}

/**
 * Replaces one of these lists, or both. A name that joins one list leaves the other. Of names that differ only in case,
 * spaces, hyphens and underscores, the first stays. @returns what changed in each list, if it was sent or lost a name.
 * @throws ServiceError 400 for a property that is personal in every workspace, and for a name in both lists
 */
export async function chooseProperties(
  tx: Tenant,
  sent: Partial<ChosenProperties>,
): Promise<Partial<Record<keyof ChosenProperties, ListChanges>>> {
  const problems = problemsOf(sent)
  if (problems.length > 0) throw validationError(problems)
  const tenants = tx.unrestricted.selectFrom('tenants').where('tenant_id', '=', tx.id)
  const before = await tenants
    .select(['personal_properties as personal', 'visible_properties as visible'])
    .forUpdate()
    .executeTakeFirstOrThrow()
  const personal = unique(sent.personal ?? without(before.personal, sent.visible))
  const visible = unique(sent.visible ?? without(before.visible, sent.personal))
  await tx.unrestricted
    .updateTable('tenants')
    .set({ personal_properties: personal, visible_properties: visible })
    .where('tenant_id', '=', tx.id)
    .execute()
  const [inPersonal, inVisible] = [changesOf(before.personal, personal), changesOf(before.visible, visible)]
  return {
    ...(sent.personal || inPersonal.removed.length > 0 ? { personal: inPersonal } : {}),
    ...(sent.visible || inVisible.removed.length > 0 ? { visible: inVisible } : {}),
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

function unique(names: readonly string[]): string[] {
  return [...Map.groupBy(names, plainName).values()].flatMap(([name = '']) => name.trim())
}

function without(names: readonly string[], others: readonly string[] = []): string[] {
  const left = new Set(others.map(plainName))
  return names.filter((name) => !left.has(plainName(name)))
}

function changesOf(before: readonly string[], after: readonly string[]): ListChanges {
  return {
    added: after.filter((name) => !before.includes(name)),
    removed: before.filter((name) => !after.includes(name)),
  }
}
