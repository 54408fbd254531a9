import { Stack, Text } from '@mantine/core'
import type { Contact } from '../api/types.ts'
import { AnchorLink } from '../ui/link.tsx'
import { propertyText } from '../ui/property-value.ts'
import { Foreign } from '../ui/text.tsx'
import { contactName } from './contact-name.ts'

interface ContactLinksProps {
  contacts: readonly Pick<Contact, 'contact_id' | 'properties'>[]
  label?: string
}

/** Some contacts by name and address, each with a link to its page. */
export function ContactLinks({ contacts, label }: ContactLinksProps) {
  return (
    <Stack component="ul" gap={6} m={0} p={0} style={{ listStyle: 'none' }} aria-label={label}>
      {contacts.map((contact) => (
        <li key={contact.contact_id}>
          <AnchorLink size="sm" to="/contacts/$contactId" params={{ contactId: contact.contact_id }}>
            <Foreign max={80}>{contactName(contact)}</Foreign>
          </AnchorLink>
          <Text size="xs" c="dimmed" truncate>
            <Foreign max={100}>{propertyText(contact.properties.email)}</Foreign>
          </Text>
        </li>
      ))}
    </Stack>
  )
}
