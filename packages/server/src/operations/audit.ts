import Type from 'typebox'
import { newId } from '../platform/ids.ts'
import { personal, TEXT, WORD, when } from '../platform/personal.ts'
import type { Stores, Tenant } from '../platform/tenant.ts'

/** Who did something: a signed-in person, an API key, the command line, or the service itself. */
export type Actor =
  | { kind: 'user'; id: string; name: string }
  | { kind: 'api_key'; id: string; name: string }
  | { kind: 'command_line' }
  | { kind: 'agent'; id: string; name: string }
  | { kind: 'service' }

/** A person, a key or an agent in a response. */
export const NamedActor = Type.Object(
  { id: Type.String(WORD), name: Type.String(personal('name')) },
  { title: 'NamedActor' },
)

/** What the name of an actor says about people: it is a person's, or that of a key or an agent. */
export const NAME_OF_ACTOR = when('kind', ['user'], personal('name'), TEXT)

export interface AuditEntry {
  actor: Actor
  /** The action in the past tense, as `subject.verb`: `action.approved`, `agent.updated`, `identity.deleted`. */
  action: string
  subjectKind: string
  subjectId: string | null
  /** Never a secret. */
  details?: Record<string, unknown>
}

/** Adds to the audit log, in the transaction of the change. Entries cannot be changed or removed. */
export async function audit(tenant: Tenant, entry: AuditEntry, now: Date): Promise<void> {
  await tenant.db
    .insertInto('audit_log')
    .values({
      entry_id: newId(),
      at: now,
      actor: JSON.stringify(entry.actor),
      action: entry.action,
      subject_kind: entry.subjectKind,
      subject_id: entry.subjectId,
      details: JSON.stringify(entry.details ?? {}),
    })
    .execute()
}

/** Writes entries about subjects of one kind: `entryAbout('hook')('hook.created', hookId, { name })`. */
export function entryAbout(subjectKind: string) {
  return (action: string, subjectId: string, details: Record<string, unknown> = {}) => ({
    action,
    subjectKind,
    subjectId,
    details,
  })
}

/** Finds the names of subjects of one kind by id. Those that no longer exist are absent. */
export type FindNames = (
  tenant: Tenant,
  ids: readonly string[],
  stores: Pick<Stores, 'database'>,
) => Promise<ReadonlyMap<string, string | null>>

/** The names that a query finds, by id. */
export async function namesIn(query: {
  execute(): Promise<{ id: string; name: string | null }[]>
}): Promise<ReadonlyMap<string, string | null>> {
  const rows = await query.execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
