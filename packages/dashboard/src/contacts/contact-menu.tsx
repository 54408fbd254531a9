import { Alert, Group, Loader, Modal, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import {
  type Contact,
  deleteContact,
  eraseContact,
  erasureQuery,
  forgetContact,
  type Receipt,
} from '../api/contacts.ts'
import { useIsAtLeast, useMay } from '../app/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { formatMoment, formatNumber } from '../ui/format.ts'
import { propertyLabel } from '../ui/property-value.ts'
import { contactName } from './contact-name.ts'

/** What can be done with the whole of a contact. */
export function ContactMenu({ contact }: { contact: Contact }) {
  const queryClient = useQueryClient()
  const router = useRouter()
  const [receipt, setReceipt] = useState<Receipt | null>(null)
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
          size="xs"
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
          size="xs"
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
        {receipt ? <ErasureReceipt first={receipt} /> : null}
      </Modal>
    </>
  )
}

/** What was removed. It proves the erasure to whoever asks, and holds nothing of the person. */
function ErasureReceipt({ first }: { first: Receipt }) {
  const { data: receipt } = useQuery({ ...erasureQuery(first.erasure_id), initialData: first })
  const text = JSON.stringify(receipt, null, 2)
  const removed = Object.entries(receipt.removed)
  return (
    <Stack gap="sm">
      {receipt.status === 'running' ? (
        <Group gap="xs" role="status">
          <Loader size={16} aria-hidden />
          <Text size="sm">There is much to remove. It goes on, also when you leave this page.</Text>
        </Group>
      ) : (
        <Alert color="green" role="status">
          Erased on {formatMoment(receipt.erased_at ?? receipt.at)}.
        </Alert>
      )}
      <Facts facts={removed.map(([what, count]) => [propertyLabel(what), formatNumber(count)])} />
      <Text size="xs" c="dimmed">
        Receipt {receipt.erasure_id}. The settings list all receipts.
      </Text>
      <div>
        <CopyButton value={text} label="the receipt" withText />
      </div>
    </Stack>
  )
}
