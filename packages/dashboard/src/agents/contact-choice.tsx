import { Group, Pill, Stack } from '@mantine/core'
import type { Contact } from '../api/types.ts'
import { contactName } from '../records/contact-name.ts'
import { contactChoice, useFoundContacts } from '../records/find-contacts.ts'
import { FindField } from '../ui/find-field.tsx'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

interface ContactChoiceProps {
  chosen: Contact[]
  most: number
  onChange: (chosen: Contact[]) => void
}

/** Chooses contacts by search. */
export function ContactChoice({ chosen, most, onChange }: ContactChoiceProps) {
  return (
    <Stack gap="xs">
      <FindField
        label={text.findContacts.label}
        placeholder={text.findContacts.placeholder}
        what={text.findContacts.what}
        useFound={useFoundContacts}
        keyOf={({ contact_id }) => contact_id}
        nameOf={contactChoice}
        isExcluded={({ contact_id: id }) => chosen.some(({ contact_id }) => contact_id === id)}
        onChoose={(contact) => onChange([...chosen, contact])}
        disabled={chosen.length >= most}
      />
      {chosen.length > 0 ? (
        <Group gap={6} role="group" aria-label={text.findContacts.chosen}>
          {chosen.map((contact) => (
            <Pill
              key={contact.contact_id}
              size="md"
              withRemoveButton
              onRemove={() => onChange(chosen.filter(({ contact_id }) => contact_id !== contact.contact_id))}
              removeButtonProps={{
                'aria-label': text.findContacts.remove(contactName(contact).slice(0, 80)),
                'aria-hidden': false,
                tabIndex: 0,
              }}
            >
              <Foreign max={60}>{contactName(contact)}</Foreign>
            </Pill>
          ))}
        </Group>
      ) : null}
    </Stack>
  )
}
