import { ActionIcon, Menu, Text } from '@mantine/core'
import { IconDots, IconLink, IconMail, IconPencil, IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { refreshAfter } from '../../api/operation.ts'
import type { Dashboard } from '../../api/types.ts'
import { useMay } from '../../session/may.ts'
import { ConfirmDialog } from '../../ui/confirm-button.tsx'
import { RenameDialog } from '../../ui/form-dialog.tsx'
import { isolated } from '../../ui/text.tsx'
import { useMenuButton } from '../../ui/use-menu-button.ts'
import { ShareDialog } from '../shared/share-dialog.tsx'
import { text as shareText } from '../shared/text.ts'
import { MailDialog } from './mail-dialog.tsx'
import { readDashboard, saveDashboard } from './save.ts'
import { text } from './text.ts'

interface DashboardMenuProps {
  dashboard: Dashboard
  /** Called before a deleted one is no longer found. */
  onDeleted?: () => unknown
}

/** Mails a dashboard to whoever asks, shares it, and renames or deletes it, if nobody has changed its name or deleted it meanwhile. */
export function DashboardMenu({ dashboard: { dashboard_id: id, name, shared_at }, onDeleted }: DashboardMenuProps) {
  const mayChange = useMay('segments:write')
  const { button, afterFocus } = useMenuButton()
  const queryClient = useQueryClient()
  const [dialog, setDialog] = useState<'mail' | 'share' | 'rename' | 'delete' | null>(null)
  const close = () => setDialog(null)
  const renaming = useMutation({
    mutationFn: async (typed: string) => saveDashboard(queryClient, await readDashboard(id), { name: typed }),
    onSuccess: close,
  })
  const remove = async () => {
    const { version } = await readDashboard(id)
    await call('deleteDashboard', { dashboard_id: id }, undefined, version)
    await onDeleted?.()
    await refreshAfter(queryClient, 'deleteDashboard')
  }
  const shown = isolated(name.slice(0, 80))
  return (
    <>
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <ActionIcon
            ref={button}
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={text.list.more(name.slice(0, 80))}
          >
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconMail size={16} aria-hidden />} onClick={afterFocus(() => setDialog('mail'))}>
            {text.mail.menu}
          </Menu.Item>
          {mayChange ? (
            <>
              <Menu.Item
                leftSection={<IconLink size={16} aria-hidden />}
                onClick={afterFocus(() => setDialog('share'))}
              >
                {shareText.dialog.menu}
              </Menu.Item>
              <Menu.Item
                leftSection={<IconPencil size={16} aria-hidden />}
                onClick={afterFocus(() => setDialog('rename'))}
              >
                {text.rename.menu}
              </Menu.Item>
              <Menu.Item
                color="red"
                leftSection={<IconTrash size={16} aria-hidden />}
                onClick={afterFocus(() => setDialog('delete'))}
              >
                {text.remove.menu}
              </Menu.Item>
            </>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      {dialog === 'mail' ? <MailDialog dashboardId={id} name={name} onClose={close} /> : null}
      {dialog === 'share' ? (
        <ShareDialog shared={{ dashboard_id: id }} name={name} sharedAt={shared_at} onClose={close} />
      ) : null}
      {dialog === 'rename' ? (
        <RenameDialog
          title={text.rename.title(shown)}
          submit={text.rename.submit}
          name={name}
          sending={renaming}
          onRename={(typed) => renaming.mutate(typed)}
          onClose={close}
        />
      ) : null}
      <ConfirmDialog
        opened={dialog === 'delete'}
        onClose={close}
        title={text.remove.title(shown)}
        explanation={<Text size="sm">{text.remove.explanation}</Text>}
        confirmLabel={text.remove.menu}
        onConfirm={remove}
      />
    </>
  )
}
