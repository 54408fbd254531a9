import { ActionIcon, Menu, Text } from '@mantine/core'
import { IconDots, IconPencil, IconRefresh, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Source } from '../api/types.ts'
import { ConfirmDialog } from '../ui/confirm-button.tsx'
import { RenameDialog, RotateDialog } from '../ui/form-dialog.tsx'
import { SecretShown } from '../ui/secret-shown.tsx'
import { isolated } from '../ui/text.tsx'
import { useMenuButton } from '../ui/use-menu-button.ts'
import { text } from './sources-text.ts'

interface DialogProps {
  source: Source
  onClose: () => void
}

/** Renames or deletes a source, or replaces its write key. */
export function SourceMenu({ source }: { source: Source }) {
  const { button, afterFocus } = useMenuButton()
  const [dialog, setDialog] = useState<'rename' | 'rotate' | 'delete' | null>(null)
  const close = () => setDialog(null)
  const name = isolated(source.name.slice(0, 80))
  const isConnector = source.type === 'connector'
  const remove = useOperation('deleteSource')
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
      {dialog === 'rename' ? <RenameSource source={source} onClose={close} /> : null}
      {dialog === 'rotate' ? <RotateWriteKey source={source} onClose={close} /> : null}
      <ConfirmDialog
        opened={dialog === 'delete'}
        onClose={close}
        title={text.remove.title(name)}
        explanation={<Text size="sm">{isConnector ? text.remove.ofConnector : text.remove.explanation}</Text>}
        confirmLabel={text.remove.confirm}
        onConfirm={() => remove.mutateAsync({ source_id: source.source_id })}
      />
    </>
  )
}

function RenameSource({ source: { source_id, name }, onClose }: DialogProps) {
  const renaming = useOperation('updateSource', { onDone: onClose })
  return (
    <RenameDialog
      title={text.rename.title}
      submit={text.rename.submit}
      name={name}
      sending={renaming}
      onRename={(next) => renaming.mutate({ source_id, name: next })}
      onClose={onClose}
    />
  )
}

function RotateWriteKey({ source: { source_id, name }, onClose }: DialogProps) {
  const rotating = useOperation('rotateWriteKey')
  const made = rotating.data?.write_key
  return (
    <RotateDialog
      words={{ ...text.rotate, title: text.rotate.title(isolated(name.slice(0, 80))) }}
      sending={rotating}
      onRotate={(revokesOld) => rotating.mutate({ source_id, revoke_old_key: revokesOld })}
      onClose={onClose}
      rotated={made === undefined ? null : <SecretShown secret={made} words={text.shown} onDone={onClose} />}
    />
  )
}
