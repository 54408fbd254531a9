import { Text } from '@mantine/core'
import { useState } from 'react'
import type { Contact } from '../api/types.ts'
import { contactName } from '../records/contact-name.ts'
import { contactChoice, useFoundContacts } from '../records/find-contacts.ts'
import { FindField } from '../ui/find-field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { text } from './text.ts'
import { useMerge } from './use-merge.ts'

/** Merges a contact into another one, and opens that. */
export function MergeDialog({ contact, onClose }: { contact: Contact; onClose: () => void }) {
  const [into, setInto] = useState<Contact | null>(null)
  const { contact_id: contactId } = contact
  const merging = useMerge()
  return (
    <FormDialog
      title={text.merge.title(contactName(contact).slice(0, 80))}
      submit={text.merge.confirm}
      sending={merging}
      isDisabled={into === null}
      onSubmit={() => into && merging.mutate({ contact_id: contactId, into: into.contact_id })}
      onClose={onClose}
    >
      <Text size="sm">{text.merge.explanation}</Text>
      <FindField
        label={text.merge.find}
        placeholder={text.merge.findHint}
        what={text.merge.contacts}
        useFound={useFoundContacts}
        keyOf={({ contact_id }) => contact_id}
        nameOf={contactChoice}
        isExcluded={({ contact_id }) => contact_id === contactId || contact_id === into?.contact_id}
        onChoose={setInto}
        disabled={merging.isPending}
        autoFocus
      />
      {into ? (
        <Text size="sm" fw={550} role="status">
          {text.merge.chosen(contactChoice(into).slice(0, 160))}
        </Text>
      ) : null}
    </FormDialog>
  )
}
