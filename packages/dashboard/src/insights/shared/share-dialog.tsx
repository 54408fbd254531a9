import { Anchor, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { IconLink } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call } from '../../api/client.ts'
import { refreshAfter } from '../../api/operation.ts'
import { ConfirmButton } from '../../ui/confirm-button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { FormError } from '../../ui/form.tsx'
import { useFocusReturn } from '../../ui/form-dialog.tsx'
import { LoadingState } from '../../ui/states.tsx'
import { isolated } from '../../ui/text.tsx'
import { text } from './text.ts'

const words = text.dialog

interface ShareDialogProps {
  /** A report or a dashboard. */
  shared: { report_id: string } | { dashboard_id: string }
  name: string
  /** When its link was created; null without one. */
  sharedAt: string | null
  onClose: () => void
}

/** Creates, shows and deletes the link with which anybody can read the figures of a report or a dashboard. */
export function ShareDialog({ shared, name, sharedAt, onClose }: ShareDialogProps) {
  const queryClient = useQueryClient()
  const isReport = 'report_id' in shared
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => (isReport ? call('shareReport', shared) : call('shareDashboard', shared)),
    onSuccess: () => refreshAfter(queryClient, isReport ? 'shareReport' : 'shareDashboard'),
  })
  const stop = async () => {
    await (isReport ? call('unshareReport', shared) : call('unshareDashboard', shared))
    onClose()
    await refreshAfter(queryClient, isReport ? 'unshareReport' : 'unshareDashboard')
  }
  // The link that there is stays the same. Only those who may share ask for it.
  const [isShared] = useState(sharedAt !== null)
  useEffect(() => {
    if (isShared) mutate()
  }, [isShared, mutate])
  useFocusReturn()
  return (
    <Modal opened onClose={onClose} title={words.title(isolated(name.slice(0, 80)))} size="lg">
      <Stack gap="md">
        <Text size="sm">{words.explanation}</Text>
        <Text size="sm" c="dimmed">
          {words.seen}
        </Text>
        <FormError error={error} />
        {data ? <Link url={data.share.url} onStop={stop} /> : null}
        {!data && isShared && !error ? <LoadingState lines={1} label={words.opening} /> : null}
        {!data && !isShared ? (
          <Group justify="flex-end">
            <Button leftSection={<IconLink size={16} aria-hidden />} loading={isPending} onClick={() => mutate()}>
              {words.create}
            </Button>
          </Group>
        ) : null}
      </Stack>
    </Modal>
  )
}

function Link({ url, onStop }: { url: string; onStop: () => Promise<void> }) {
  return (
    <>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <TextInput
          label={words.link}
          value={url}
          readOnly
          flex={1}
          data-autofocus
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton value={url} label={words.copy} withText />
      </Group>
      <Group justify="space-between">
        <ConfirmButton
          size="xs"
          title={words.stopTitle}
          explanation={<Text size="sm">{words.stopExplanation}</Text>}
          confirmLabel={words.stop}
          onConfirm={onStop}
        >
          {words.stop}
        </ConfirmButton>
        <Anchor href={url} target="_blank" rel="noopener noreferrer" size="sm">
          {words.open}
        </Anchor>
      </Group>
    </>
  )
}
