import { Alert, Code, Modal, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { type Contact, deleteContact, type ErasureReceipt, eraseContact, forgetContact } from '../api/contacts.ts'
import { useIsAtLeast, useMay } from '../app/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatMoment } from '../ui/text.tsx'
import { contactName } from './contact-name.ts'

/** What can be done with the whole of a contact. */
export function ContactMenu({ contact }: { contact: Contact }) {
  const queryClient = useQueryClient()
  const router = useRouter()
  const [receipt, setReceipt] = useState<ErasureReceipt | null>(null)
  const mayWrite = useMay('contacts:write')
  const mayErase = useIsAtLeast('admin')
  const name = contactName(contact).slice(0, 80)
  const leave = async () => {
    await router.navigate({ to: '/contacts' })
    await forgetContact(queryClient, contact.contact_id)
  }
  const remove = async () => {
    await deleteContact(contact.contact_id)
    await leave()
  }
  const erase = async () => setReceipt((await eraseContact(contact.contact_id)).receipt)
  return (
    <>
      {mayWrite ? (
        <ConfirmButton
          title={`Delete ${name}?`}
          explanation="The contact and its notes are removed for good. Its events stay, as those of nobody."
          confirmLabel="Delete the contact"
          onConfirm={remove}
        >
          Delete
        </ConfirmButton>
      ) : null}
      {mayErase ? (
        <ConfirmButton
          color="red"
          variant="light"
          title={`Erase ${name}?`}
          explanation={
            <Text size="sm">
              Every trace is removed everywhere, as the law asks when a person wishes it: the contact, its notes,
              conversations and events, and what webhooks and agents kept of them. You get a receipt. It cannot be
              undone.
            </Text>
          }
          confirmLabel="Erase everything"
          typeToConfirm="erase"
          onConfirm={erase}
        >
          Erase
        </ConfirmButton>
      ) : null}
      <Modal opened={receipt !== null} onClose={leave} title="Erased">
        {receipt ? <Receipt receipt={receipt} /> : null}
      </Modal>
    </>
  )
}

function Receipt({ receipt }: { receipt: ErasureReceipt }) {
  const text = JSON.stringify(receipt, null, 2)
  return (
    <Stack gap="sm">
      <Alert color="green" role="status">
        Erased on {formatMoment(receipt.at)}.
      </Alert>
      <Code block mah={280} style={{ overflow: 'auto' }}>
        {text}
      </Code>
      <div>
        <CopyButton value={text} label="the receipt" withText />
      </div>
    </Stack>
  )
}
