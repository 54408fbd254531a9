import { ActionIcon, Menu, Modal, Text } from '@mantine/core'
import { IconArrowMerge, IconDots, IconEraser, IconTrash } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { keyOf, refreshAfter, useOperation } from '../api/operation.ts'
import type { Contact, ErasureReceipt as Receipt } from '../api/types.ts'
import { contactName } from '../records/contact-name.ts'
import { useIsAtLeast, useMay } from '../session/may.ts'
import { ConfirmDialog } from '../ui/confirm-button.tsx'
import { useMenuButton } from '../ui/use-menu-button.ts'
import { ErasureReceipt } from './erasure-receipt.tsx'
import { MergeDialog } from './merge-dialog.tsx'
import { text } from './text.ts'

/** Merges, deletes or erases a contact. */
export function ContactMenu({ contact }: { contact: Contact }) {
  const queryClient = useQueryClient()
  const router = useRouter()
  const { button, afterFocus } = useMenuButton()
  const [dialog, setDialog] = useState<'merge' | 'delete' | 'erase' | null>(null)
  const [receipt, setReceipt] = useState<Receipt | null>(null)
  const mayWrite = useMay('contacts:write')
  const mayErase = useIsAtLeast('admin')
  const name = contactName(contact).slice(0, 80)
  const close = () => setDialog(null)
  const { contact_id } = contact
  const leave = async () => {
    await router.navigate({ to: '/contacts' })
    queryClient.removeQueries({ queryKey: keyOf('getContact', { contact_id }) })
  }
  const removing = useOperation('deleteContact', { onDone: leave })
  // The receipt is shown over the contact's page, so nothing is read again until that is left.
  const erase = async () => setReceipt((await call('eraseContact', { contact_id })).receipt)
  const leaveErased = async () => {
    await leave()
    await refreshAfter(queryClient, 'eraseContact')
  }
  if (!mayWrite && !mayErase) return null
  return (
    <>
      <Menu position="bottom-end" width={230}>
        <Menu.Target>
          <ActionIcon ref={button} variant="default" size={36} aria-label={text.page.more}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {mayWrite ? (
            <>
              <Menu.Item
                leftSection={<IconArrowMerge size={16} aria-hidden />}
                onClick={afterFocus(() => setDialog('merge'))}
              >
                {text.merge.menu}
              </Menu.Item>
              <Menu.Divider />
              <Menu.Item
                leftSection={<IconTrash size={16} aria-hidden />}
                onClick={afterFocus(() => setDialog('delete'))}
              >
                {text.remove.menu}
              </Menu.Item>
            </>
          ) : null}
          {mayErase ? (
            <Menu.Item
              color="red"
              leftSection={<IconEraser size={16} aria-hidden />}
              onClick={afterFocus(() => setDialog('erase'))}
            >
              {text.erase.menu}
            </Menu.Item>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      {dialog === 'merge' ? <MergeDialog contact={contact} onClose={close} /> : null}
      <ConfirmDialog
        opened={dialog === 'delete'}
        onClose={close}
        title={text.remove.title(name)}
        explanation={<Text size="sm">{text.remove.explanation}</Text>}
        confirmLabel={text.remove.confirm}
        onConfirm={() => removing.mutateAsync({ contact_id })}
      />
      <ConfirmDialog
        opened={dialog === 'erase'}
        onClose={close}
        title={text.erase.title(name)}
        explanation={<Text size="sm">{text.erase.explanation}</Text>}
        confirmLabel={text.erase.confirm}
        typeToConfirm={text.erase.word}
        onConfirm={erase}
      />
      <Modal opened={receipt !== null} onClose={leaveErased} title={text.erase.done}>
        {receipt ? <ErasureReceipt first={receipt} /> : null}
      </Modal>
    </>
  )
}
