import { Button } from '@mantine/core'
import { IconMail, IconNote, IconRobot } from '@tabler/icons-react'
import { useState } from 'react'
import type { Contact } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { propertyText } from '../ui/property-value.ts'
import { AgentDialog } from './agent-dialog.tsx'
import { ContactMenu } from './contact-menu.tsx'
import { text } from './text.ts'

/** What one does with a contact: first what is frequent, the rest in a menu. */
export function ContactActions({ contact, onNote }: { contact: Contact; onNote: () => void }) {
  const [isRunning, setRunning] = useState(false)
  const mayWrite = useMay('contacts:write')
  const mayRun = useMay('agents:trigger')
  const email = propertyText(contact.properties.email)
  return (
    <>
      {mayWrite ? (
        <Button leftSection={<IconNote size={16} aria-hidden />} onClick={onNote}>
          {text.page.addNote}
        </Button>
      ) : null}
      {email === '' ? null : (
        <Button
          variant="default"
          component="a"
          href={`mailto:${encodeURIComponent(email)}`}
          leftSection={<IconMail size={16} aria-hidden />}
        >
          {text.page.writeMail}
        </Button>
      )}
      {mayRun ? (
        <Button variant="default" leftSection={<IconRobot size={16} aria-hidden />} onClick={() => setRunning(true)}>
          {text.page.runAgent}
        </Button>
      ) : null}
      <ContactMenu contact={contact} />
      {isRunning ? <AgentDialog contact={contact} onClose={() => setRunning(false)} /> : null}
    </>
  )
}
