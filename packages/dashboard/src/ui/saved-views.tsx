import { ActionIcon, Button, Group, Menu, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconBookmark, IconCheck, IconTrash } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type CreateViewInput,
  createView,
  deleteView,
  refreshViews,
  replaceView,
  type SavedView,
  viewsQuery,
} from '../api/views.ts'
import { useMay } from '../session/may.ts'
import { Form } from './form.tsx'
import { messageOf } from './states.tsx'
import { text } from './text.ts'
import { ToolbarButton } from './toolbar-button.tsx'
import { upTo } from './up-to.ts'
import { useMenuButton } from './use-menu-button.ts'

interface SavedViewsProps {
  page: CreateViewInput['page']
  /** The current filters and sort order, without the page. */
  query: CreateViewInput['query']
  columns: readonly string[]
  onOpen: (view: SavedView) => void
}

/** The team's saved views of a list: opens one, or saves the current one. */
export function SavedViews({ page, query, columns, onOpen }: SavedViewsProps) {
  const { data, error, refetch } = useQuery(viewsQuery)
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
      <Modal opened={isSaving} onClose={close} title={text.views.saveTitle}>
        <SaveForm body={{ page, query, columns: [...columns] }} views={views} onDone={close} />
      </Modal>
      <Modal opened={isManaging} onClose={managing.close} title={text.views.manageTitle}>
        <ViewList views={views} />
      </Modal>
    </>
  )
}

interface SaveFormProps {
  body: Omit<CreateViewInput, 'name'>
  views: SavedView[]
  onDone: () => void
}

/** If the name exists, that view is replaced. */
function SaveForm({ body, views, onDone }: SaveFormProps) {
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const existing = views.find((view) => view.name === name.trim())
  const saving = useMutation({
    mutationFn: () => {
      const view = { ...body, name: name.trim() }
      return existing ? replaceView(existing.view_id, view) : createView(view)
    },
    onSuccess: async () => {
      await refreshViews(queryClient)
      onDone()
    },
  })
  return (
    <Form onSubmit={() => saving.mutate()}>
      <TextInput
        label={text.views.name}
        description={text.views.description}
        required
        withAsterisk={false}
        {...upTo(100)}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={saving.isError ? messageOf(saving.error) : undefined}
      />
      <Group justify="flex-end">
        <Button type="submit" loading={saving.isPending}>
          {existing ? text.views.replaceButton : text.views.saveButton}
        </Button>
      </Group>
    </Form>
  )
}

function ViewList({ views }: { views: SavedView[] }) {
  const queryClient = useQueryClient()
  const removing = useMutation({ mutationFn: deleteView, onSuccess: () => refreshViews(queryClient) })
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
            loading={removing.isPending && removing.variables === view_id}
            onClick={() => removing.mutate(view_id)}
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
