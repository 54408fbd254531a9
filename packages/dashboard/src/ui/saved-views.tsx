import { ActionIcon, Group, Menu, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconBookmark, IconCheck, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { CreateViewInput, SavedView } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { FormDialog } from './form-dialog.tsx'
import { messageOf } from './states.tsx'
import { text } from './text.ts'
import { ToolbarButton } from './toolbar-button.tsx'
import { upTo } from './up-to.ts'
import { useMenuButton } from './use-menu-button.ts'

/** The service's limit on the views of a workspace. */
const VIEWS_MAX = 200

interface SavedViewsProps {
  page: CreateViewInput['page']
  /** The current filters and sort order, without the page. */
  query: CreateViewInput['query']
  columns: readonly string[]
  onOpen: (view: SavedView) => void
}

/** The team's saved views of a list: opens one, or saves the current one. */
export function SavedViews({ page, query, columns, onOpen }: SavedViewsProps) {
  const { data, error, refetch } = useQuery(queryOf('listViews', { limit: VIEWS_MAX }))
  const [isSaving, { open, close }] = useDisclosure()
  const [isManaging, managing] = useDisclosure()
  const { button, afterFocus } = useMenuButton()
  const mayWrite = useMay('contacts:write')
  const views = (data?.views ?? []).filter((view) => view.page === page)
  const present = views.find((view) => isSame(view.query, query) && isSame(view.columns, columns))
  return (
    <>
      <Menu position="bottom-end" width={240} onOpen={() => error && void refetch()}>
        <Menu.Target>
          <ToolbarButton ref={button} icon={<IconBookmark size={16} aria-hidden />}>
            {present ? present.name.slice(0, 30) : text.views.button}
          </ToolbarButton>
        </Menu.Target>
        <Menu.Dropdown mah={420} style={{ overflowY: 'auto' }}>
          {error && !data ? <Menu.Label role="alert">{messageOf(error)}</Menu.Label> : null}
          {data && views.length === 0 ? <Menu.Label>{text.views.none}</Menu.Label> : null}
          {views.map((view) => (
            <Menu.Item
              key={view.view_id}
              onClick={() => onOpen(view)}
              rightSection={view === present ? <IconCheck size={16} aria-label={text.views.current} /> : null}
            >
              <bdi>{view.name}</bdi>
            </Menu.Item>
          ))}
          {mayWrite ? (
            <>
              <Menu.Divider />
              <Menu.Item onClick={afterFocus(open)}>{text.views.save}</Menu.Item>
              {views.length > 0 ? <Menu.Item onClick={afterFocus(managing.open)}>{text.views.manage}</Menu.Item> : null}
            </>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      {isSaving ? <SaveDialog body={{ page, query, columns: [...columns] }} views={views} onClose={close} /> : null}
      <Modal opened={isManaging} onClose={managing.close} title={text.views.manageTitle}>
        <ViewList views={views} />
      </Modal>
    </>
  )
}

interface SaveDialogProps {
  body: Omit<CreateViewInput, 'name'>
  views: SavedView[]
  onClose: () => void
}

/** If the name exists, that view is replaced. */
function SaveDialog({ body, views, onClose }: SaveDialogProps) {
  const [typed, setTyped] = useState('')
  const name = typed.trim()
  const existing = views.find((view) => view.name === name)
  const creating = useOperation('createView', { onDone: onClose })
  const replacing = useOperation('replaceView', { onDone: onClose })
  const submit = () => {
    if (existing) replacing.mutate({ view_id: existing.view_id, ...body, name })
    else creating.mutate({ ...body, name })
  }
  return (
    <FormDialog
      title={text.views.saveTitle}
      submit={existing ? text.views.replaceButton : text.views.saveButton}
      sending={existing ? replacing : creating}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label={text.views.name}
        description={text.views.description}
        required
        withAsterisk={false}
        {...upTo(100)}
        data-autofocus
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </FormDialog>
  )
}

function ViewList({ views }: { views: SavedView[] }) {
  const removing = useOperation('deleteView')
  return (
    <Stack gap="xs">
      {views.length === 0 ? <Text size="sm">{text.views.none}</Text> : null}
      {views.map(({ view_id, name, created_by }) => (
        <Group key={view_id} justify="space-between" wrap="nowrap">
          <div>
            <Text size="sm">
              <bdi>{name}</bdi>
            </Text>
            {created_by ? (
              <Text size="xs" c="dimmed">
                <bdi>{created_by.name}</bdi>
              </Text>
            ) : null}
          </div>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={text.views.delete(name)}
            loading={removing.isPending && removing.variables.view_id === view_id}
            onClick={() => removing.mutate({ view_id })}
          >
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      {removing.isError ? (
        <Text size="sm" c="red" role="alert">
          {messageOf(removing.error)}
        </Text>
      ) : null}
    </Stack>
  )
}

function isSame(one: object, other: object): boolean {
  const sorted = (value: object) =>
    Array.isArray(value) ? value : Object.entries(value).sort(([a], [b]) => a.localeCompare(b))
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
}
