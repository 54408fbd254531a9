import Type from 'typebox'
import type { FindNames } from '../operations/audit.ts'
import { AuditLogEntry, PERSONAL_SUBJECTS } from '../operations/audit-list.ts'
import { Nullable } from '../platform/http/responses.ts'
import { isUuid } from '../platform/ids.ts'
import { personal, TEXT, when } from '../platform/personal.ts'
import type { Stores, Tenant } from '../platform/tenant.ts'

/** An entry with the name of its subject. */
export const NamedAuditEntry = Type.Object(
  {
    ...AuditLogEntry.properties,
    subject_name: Nullable(
      Type.String({
        ...when('subject_kind', PERSONAL_SUBJECTS, personal('name'), TEXT),
        description: "The subject's name now; if it is gone, the one in details. null if neither exists.",
      }),
    ),
    subject_exists: Nullable(
      Type.Boolean({
        description: 'false if the subject was deleted; null for kinds that have no record of their own.',
      }),
    ),
  },
  { title: 'AuditLogEntry' },
)
export type NamedAuditEntry = Type.Static<typeof NamedAuditEntry>

/** Services of the audit log. Accounts belong to no tenant, so their names need the stores. */
export interface AuditServices {
  stores: Pick<Stores, 'database'>
  subjectKinds: SubjectKinds
}

/** How the names of each kind of subject are found: each feature has a function for its own. */
export type SubjectKinds = Readonly<Record<string, FindNames>>

/** Adds the subjects' names: one query for each kind among the entries. */
export async function withSubjectNames(
  tenant: Tenant,
  { stores, subjectKinds }: AuditServices,
  entries: readonly AuditLogEntry[],
): Promise<NamedAuditEntry[]> {
  const idsOf = new Map<string, Set<string>>()
  for (const entry of entries) {
    const { kind, id } = subjectOf(entry)
    if (!Object.hasOwn(subjectKinds, kind) || !isUuid(id)) continue
    idsOf.set(kind, (idsOf.get(kind) ?? new Set()).add(id))
  }
  const found = await Promise.all(
    [...idsOf].map(async ([kind, ids]) => [kind, await subjectKinds[kind]?.(tenant, [...ids], stores)] as const),
  )
  const named = new Map(found)
  return entries.map((entry) => {
    const { kind, id } = subjectOf(entry)
    const names = named.get(kind)
    return {
      ...entry,
      subject_name: names?.get(id) ?? nameIn(entry),
      subject_exists: names ? names.has(id) : null,
    }
  })
}

/** The subject of a decision about an action is shown as the contact that the action concerns: run/contact/index. */
function subjectOf({ subject_kind: kind, subject_id: id }: AuditLogEntry): { kind: string; id: string } {
  if (kind === 'action') return { kind: 'contact', id: id?.split('/')[1] ?? '' }
  return { kind, id: id ?? '' }
}

/** The name that an entry recorded. */
function nameIn({ details }: AuditLogEntry): string | null {
  const { name, domain, email, event, firstName, lastName, source } = details
  const person = [firstName, lastName].filter((part) => typeof part === 'string').join(' ')
  return (
    [name, domain, email, event, person, source].find(
      (text): text is string => typeof text === 'string' && text !== '',
    ) ?? null
  )
}
