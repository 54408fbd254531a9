import { Badge } from '@mantine/core'
import { IconPlus, IconTransferIn } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { Hook } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import type { Column } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { hooksQuery } from './hook-queries.ts'
import { text } from './text.ts'

/** All incoming webhooks. */
export function HooksPage() {
  const create = useMay('settings:write') ? (
    <ButtonLink leftSection={<IconPlus size={16} aria-hidden />} to="/hooks/new">
      {text.list.create}
    </ButtonLink>
  ) : null
  return (
    <ListPage
      title={text.title}
      description={text.list.description}
      create={create}
      label={text.title}
      opensRows
      query={useQuery(hooksQuery())}
      rowsOf={({ hooks }) => hooks}
      rowKey={({ hook_id }) => hook_id}
      columns={COLUMNS}
      empty={{ icon: IconTransferIn, title: text.list.empty, hint: text.list.emptyExplanation }}
    />
  )
}

const COLUMNS: Column<Hook>[] = [
  {
    id: 'name',
    header: text.list.name,
    cell: ({ name, hook_id: hookId }) => (
      <AnchorLink fw={550} inherit to="/hooks/$hookId" params={{ hookId }}>
        <Foreign max={80}>{name}</Foreign>
      </AnchorLink>
    ),
  },
  { id: 'kind', header: text.list.kind, visibleFrom: 'sm', cell: ({ kind }) => text.kinds[kind] },
  { id: 'status', header: text.list.status, cell: (hook) => <HookState hook={hook} /> },
  { id: 'source', header: text.list.source, visibleFrom: 'md', cell: ({ source }) => source },
  {
    id: 'bodies',
    header: text.list.bodies,
    align: 'right',
    visibleFrom: 'md',
    cell: ({ kept_bodies: kept }) => formatNumber(kept),
  },
  {
    id: 'last',
    header: text.list.last,
    visibleFrom: 'sm',
    cell: ({ last_body_at: at }) => (at === null ? text.list.never : <Moment at={at} c="dimmed" />),
  },
]

/** Whether a sender's bodies must be signed, and the hook has no secret yet. */
export function needsSecret({ kind, has_signing_secret: hasSecret }: Hook): boolean {
  return kind !== 'custom' && !hasSecret
}

/** Whether the hook accepts bodies, and whether they are recorded. */
export function HookState({ hook }: { hook: Hook }) {
  if (needsSecret(hook)) return <Badge color="orange">{text.states.needsSecret}</Badge>
  if (!hook.enabled) return <Badge color="gray">{text.states.off}</Badge>
  if (hook.failed_bodies > 0) return <Badge color="red">{text.states.fails(hook.failed_bodies)}</Badge>
  return <Badge color="green">{text.states.on}</Badge>
}
