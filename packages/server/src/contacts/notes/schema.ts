import Type from 'typebox'
import { ContactId, Id, Timestamp } from '../../platform/http/responses.ts'
import { personal } from '../../platform/personal.ts'

/** A free-form text on a contact. */
export const Note = Type.Object(
  {
    note_id: Id,
    _id: Id,
    contact_id: ContactId,
    content: Type.String({ description: 'Markdown, stored as sent.', ...personal('free-text') }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Note' },
)

export type NoteObject = Type.Static<typeof Note>

export const NoteContent = Type.String({ minLength: 1, maxLength: 100_000, examples: ['Asked for **pricing**.'] })
