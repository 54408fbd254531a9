import { ActionIcon, Checkbox, Menu, Modal, Text, TextInput } from '@mantine/core'
import { IconDots, IconPencil, IconRefresh, IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteSource, refreshSources, rotateWriteKey, type Source, updateSource } from '../api/sources.ts'
import { ConfirmDialog } from '../ui/confirm-button.tsx'
import { Form, FormButtons, FormError } from '../ui/form.tsx'
import { isolated } from '../ui/text.tsx'
import { upTo } from '../ui/up-to.ts'
import { useMenuButton } from '../ui/use-menu-button.ts'
import { SecretShown } from './secret-shown.tsx'
import { text } from './sources-text.ts'

interface DialogProps {
  source: Source
  onClose: () => void
}

/** Renames or deletes a source, or replaces its write key. */
export function SourceMenu({ source }: { source: Source }) {
  const queryClient = useQueryClient()
  const { button, afterFocus } = useMenuButton()
  const [dialog, setDialog] = useState<'rename' | 'rotate' | 'delete' | null>(null)
  const close = () => setDialog(null)
  const name = isolated(source.name.slice(0, 80))
  const isConnector = source.type === 'connector'
  const remove = async () => {
    await deleteSource(source.source_id)
    await refreshSources(queryClient)
  }
  return (
    <>
      <Menu position="bottom-end" width={230}>
        <Menu.Target>
          <ActionIcon ref={button} variant="default" size={32} aria-label={text.more(source.name.slice(0, 80))}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {isConnector ? null : (
            <>
              <Menu.Item
                leftSection={<IconPencil size={16} aria-hidden />}
                onClick={afterFocus(() => setDialog('rename'))}
              >
                {text.rename.menu}
              </Menu.Item>
              <Menu.Item
                leftSection={<IconRefresh size={16} aria-hidden />}
                onClick={afterFocus(() => setDialog('rotate'))}
              >
                {text.rotate.menu}
              </Menu.Item>
              <Menu.Divider />
            </>
          )}
          <Menu.Item
            color="red"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={afterFocus(() => setDialog('delete'))}
          >
            {text.remove.menu}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'rename' ? <RenameDialog source={source} onClose={close} /> : null}
      {dialog === 'rotate' ? <RotateDialog source={source} onClose={close} /> : null}
      <ConfirmDialog
        opened={dialog === 'delete'}
        onClose={close}
        title={text.remove.title(name)}
        explanation={<Text size="sm">{isConnector ? text.remove.ofConnector : text.remove.explanation}</Text>}
        confirmLabel={text.remove.confirm}
        onConfirm={remove}
      />
    </>
  )
}

function RenameDialog({ source, onClose }: DialogProps) {
  const queryClient = useQueryClient()
  const [name, setName] = useState(source.name)
  const renaming = useMutation({
    mutationFn: async () => {
      await updateSource(source.source_id, name.trim())
      await refreshSources(queryClient)
    },
    onSuccess: onClose,
  })
  return (
    <Modal opened onClose={onClose} title={text.rename.title}>
      <Form onSubmit={() => renaming.mutate()}>
        <TextInput
          label={text.rename.name}
          required
          {...upTo(200)}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <FormError error={renaming.error} />
        <FormButtons
          submit={text.rename.submit}
          cancel={text.rename.cancel}
          isPending={renaming.isPending}
          onCancel={onClose}
        />
      </Form>
    </Modal>
  )
}

function RotateDialog({ source, onClose }: DialogProps) {
  const queryClient = useQueryClient()
  const [revokesOld, setRevokesOld] = useState(false)
  const rotating = useMutation({
    mutationFn: () => rotateWriteKey(source.source_id, revokesOld),
    onSuccess: () => refreshSources(queryClient),
  })
  const made = rotating.data?.write_key
  const isMade = made !== undefined
  return (
    <Modal
      opened
      onClose={onClose}
      title={isMade ? text.rotate.titleWhenRotated : text.rotate.title(isolated(source.name.slice(0, 80)))}
      // A click outside must not close the dialog before the key is saved.
      closeOnClickOutside={!isMade}
      closeOnEscape={!isMade}
      withCloseButton={!isMade}
    >
      {isMade ? (
        <SecretShown secret={made} words={text.shown} onDone={onClose} />
      ) : (
        <Form onSubmit={() => rotating.mutate()}>
          <Text size="sm">{text.rotate.explanation}</Text>
          <Checkbox
            label={text.rotate.revoke}
            description={text.rotate.revokeDescription}
            checked={revokesOld}
            onChange={(event) => setRevokesOld(event.currentTarget.checked)}
          />
          <FormError error={rotating.error} />
          <FormButtons
            submit={text.rotate.submit}
            cancel={text.rotate.cancel}
            isPending={rotating.isPending}
            onCancel={onClose}
          />
        </Form>
      )}
    </Modal>
  )
}
