import { ActionIcon, Badge, Button, Card, Group, Menu, Stack, Text, Title } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconDots, IconPlus, IconWorldSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf, useOperation } from '../../api/operation.ts'
import type { EnrichmentProvider } from '../../api/types.ts'
import { useMay } from '../../session/may.ts'
import { ConfirmDialog } from '../../ui/confirm-button.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { FormError } from '../../ui/form.tsx'
import { formatNumber } from '../../ui/format.ts'
import { List } from '../../ui/list-page.tsx'
import { Foreign, isolated, Moment } from '../../ui/text.tsx'
import { useMenuButton } from '../../ui/use-menu-button.ts'
import { EditProviderDialog, NewProviderDialog } from './provider-dialog.tsx'
import { TestProviderDialog } from './test-dialog.tsx'
import { text } from './text.ts'

/** The services that are asked about contacts, in their order. */
export function EnrichmentProviders() {
  const mayWrite = useMay('settings:write')
  const [isAdding, setAdding] = useState(false)
  const query = useQuery(queryOf('listEnrichmentProviders', { limit: 20 }))
  const ordering = useOperation('orderEnrichmentProviders')
  const providers = query.data?.providers ?? []
  const move = (from: number, to: number) => {
    const ids = providers.map(({ provider_id: id }) => id)
    ids.splice(to, 0, ...ids.splice(from, 1))
    ordering.mutate({ provider_ids: ids })
  }
  const add = mayWrite ? (
    <Button variant="default" leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      {text.add}
    </Button>
  ) : null
  const order: Column<EnrichmentProvider> = {
    id: 'order',
    header: text.columns.order,
    cell: (provider) => (
      <Order
        provider={provider}
        index={providers.indexOf(provider)}
        count={providers.length}
        isBusy={ordering.isPending}
        onMove={move}
      />
    ),
  }
  const more: Column<EnrichmentProvider> = {
    id: 'more',
    header: text.columns.more,
    align: 'right',
    cell: (provider) => <ProviderMenu provider={provider} />,
  }
  return (
    <Card component="section" aria-label={text.title}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            {text.title}
          </Title>
          {providers.length > 0 ? add : null}
        </Group>
        <Text size="sm" c="dimmed">
          {text.description}
        </Text>
        <FormError error={ordering.error} />
        <List
          label={text.table}
          query={query}
          rowsOf={({ providers: rows }) => rows}
          rowKey={({ provider_id }) => provider_id}
          columns={mayWrite ? [order, ...COLUMNS, more] : COLUMNS}
          empty={{ icon: IconWorldSearch, title: text.empty, hint: text.emptyHint, action: add }}
        />
      </Stack>
      {isAdding ? <NewProviderDialog onClose={() => setAdding(false)} /> : null}
    </Card>
  )
}

const COLUMNS: Column<EnrichmentProvider>[] = [
  {
    id: 'name',
    header: text.columns.name,
    cell: ({ name, kind }) => (
      <>
        <Foreign max={80}>{name}</Foreign>
        <Text size="xs" c="dimmed">
          {text.kinds[kind]}
        </Text>
      </>
    ),
  },
  { id: 'state', header: text.columns.state, cell: (provider) => <State provider={provider} /> },
  {
    id: 'usage',
    header: text.columns.usage,
    align: 'right',
    cell: ({ usage, monthly_budget: budget }) =>
      text.usage(formatNumber(usage.requests), budget === null ? null : formatNumber(budget)),
  },
]

function State({ provider }: { provider: EnrichmentProvider }) {
  const { enabled, paused_until: pausedUntil, last_error: error, last_error_at: at } = provider
  const [color, label] = !enabled
    ? (['gray', text.states.off] as const)
    : pausedUntil === null
      ? (['green', text.states.on] as const)
      : (['orange', text.states.paused] as const)
  return (
    <Stack gap={2} align="flex-start">
      <Badge color={color}>{label}</Badge>
      {error && at ? (
        <Text size="xs" c="dimmed" maw={320} style={{ whiteSpace: 'normal' }}>
          {text.lastError}: {error.message} <Moment at={at} inherit />
        </Text>
      ) : null}
    </Stack>
  )
}

interface OrderProps {
  provider: EnrichmentProvider
  index: number
  count: number
  isBusy: boolean
  onMove: (from: number, to: number) => void
}

function Order({ provider: { name }, index, count, isBusy, onMove }: OrderProps) {
  const short = name.slice(0, 80)
  return (
    <Group gap={4} wrap="nowrap">
      <ActionIcon
        variant="default"
        aria-label={text.up(short)}
        disabled={index === 0 || isBusy}
        onClick={() => onMove(index, index - 1)}
      >
        <IconArrowUp size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon
        variant="default"
        aria-label={text.down(short)}
        disabled={index === count - 1 || isBusy}
        onClick={() => onMove(index, index + 1)}
      >
        <IconArrowDown size={16} aria-hidden />
      </ActionIcon>
    </Group>
  )
}

function ProviderMenu({ provider }: { provider: EnrichmentProvider }) {
  const { button, afterFocus } = useMenuButton()
  const [dialog, setDialog] = useState<'edit' | 'test' | 'delete' | null>(null)
  const close = () => setDialog(null)
  const switching = useOperation('updateEnrichmentProvider')
  const remove = useOperation('deleteEnrichmentProvider')
  const { provider_id, enabled, name } = provider
  const short = name.slice(0, 80)
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon ref={button} variant="default" size={32} aria-label={text.more(short)}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={afterFocus(() => setDialog('test'))}>{text.test.menu}</Menu.Item>
          <Menu.Item onClick={afterFocus(() => setDialog('edit'))}>{text.edit.menu}</Menu.Item>
          <Menu.Item onClick={() => switching.mutate({ provider_id, enabled: !enabled })}>
            {enabled ? text.turnOff : text.turnOn}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item color="red" onClick={afterFocus(() => setDialog('delete'))}>
            {text.remove.menu}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <FormError error={switching.error} />
      {dialog === 'edit' ? <EditProviderDialog provider={provider} onClose={close} /> : null}
      {dialog === 'test' ? <TestProviderDialog provider={provider} onClose={close} /> : null}
      <ConfirmDialog
        opened={dialog === 'delete'}
        onClose={close}
        title={text.remove.title(isolated(short))}
        explanation={<Text size="sm">{text.remove.explanation}</Text>}
        confirmLabel={text.remove.confirm}
        onConfirm={() => remove.mutateAsync({ provider_id })}
      />
    </>
  )
}
