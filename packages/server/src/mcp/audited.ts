import { isReading, type Operation } from '../operations/declare.ts'

type Entry = Extract<NonNullable<Operation<object>['audit']>, (...args: never) => unknown>

/** How many changed fields an entry lists. */
const FIELDS_MAX = 50

/**
 * Audit entries for operations that have none: what people change on a contact is data, not a setting. Changes by AI agents
 * are in the audit log too. Entries are kept when the contact is erased, so they contain no values.
 */
const ENTRIES: Readonly<Record<string, Entry>> = {
  createNote: ({ note }, { contact_id }) => ({
    action: 'note.created',
    subjectKind: 'contact',
    subjectId: String(contact_id),
    details: { note_id: (note as { note_id: string }).note_id },
  }),
  updateContact: (_output, { contact_id, properties, ...rest }) => ({
    action: 'contact.updated',
    subjectKind: 'contact',
    subjectId: String(contact_id),
    details: { fields: [...Object.keys(properties ?? {}), ...Object.keys(rest)].sort().slice(0, FIELDS_MAX) },
  }),
}

/** The operation as tools perform it: with an audit entry in the transaction of its change. */
export function audited(operation: Operation<object>): Operation<object> {
  if (operation.audit !== undefined || isReading(operation)) return operation
  const audit = ENTRIES[operation.name]
  if (audit === undefined) throw new Error(`${operation.name} has no audit entry, so tools cannot use it.`)
  return { ...operation, audit }
}
