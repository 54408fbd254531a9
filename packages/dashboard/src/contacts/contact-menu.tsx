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

/** Deletes or erases a contact. */
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
          explanation="The contact and its notes are deleted permanently. Its events are kept without a contact."
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
              All data about the person is removed everywhere, as privacy law requires on request: the contact, its
              notes, conversations and events, and what webhooks and agents stored. You get a receipt. This cannot be
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

/** The receipt of an erasure: proof without personal data. */
function ErasureReceipt({ first }: { first: Receipt }) {
  const { data: receipt } = useQuery({ ...erasureQuery(first.erasure_id), initialData: first })
  const text = JSON.stringify(receipt, null, 2)
  const removed = Object.entries(receipt.removed)
  return (
    <Stack gap="sm">
      {receipt.status === 'running' ? (
        <Group gap="xs" role="status">
          <Loader size={16} aria-hidden />
          <Text size="sm">Removing all data takes a while. It continues if you leave this page.</Text>
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
