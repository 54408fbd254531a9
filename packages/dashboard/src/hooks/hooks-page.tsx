import { Badge } from '@mantine/core'
import { IconPlus, IconTransferIn } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type Hook, hooksQuery } from '../api/hooks.ts'
import { useMay } from '../session/may.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { text } from './text.ts'

/** All incoming webhooks. */
export function HooksPage() {
  const { data, error, refetch } = useQuery(hooksQuery)
  const create = useMay('settings:write') ? (
    <ButtonLink leftSection={<IconPlus size={16} aria-hidden />} to="/hooks/new">
      {text.list.create}
    </ButtonLink>
  ) : null
  return (
    <>
      <PageHeader title={text.title} description={text.list.description} actions={create} />
      <DataTable
        label={text.title}
        opensRows
        columns={COLUMNS}
        rows={data}
        rowKey={({ hook_id }) => hook_id}
        error={error}
        onRetry={refetch}
        empty={
          <EmptyState icon={IconTransferIn} title={text.list.empty} action={create}>
            {text.list.emptyExplanation}
          </EmptyState>
        }
      />
    </>
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
