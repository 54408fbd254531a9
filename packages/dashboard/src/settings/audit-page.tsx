import { Anchor, Button, Code, Group, Modal, ScrollArea, Stack, Text } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type AuditLogEntry, auditQuery } from '../api/audit.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { Facts } from '../ui/facts.tsx'
import { FilterBar } from '../ui/filter-bar.tsx'
import { formatMoment } from '../ui/format.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { AUDIT_FILTERS, type AuditSearch, auditSearch, toAuditQuery } from './audit-search.ts'
import classes from './settings-table.module.css'

const route = getRouteApi('/shell/settings/audit')

/** All changes of settings: what, who and when. */
export function AuditPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = toAuditQuery(search)
  const { data, error, isPlaceholderData, refetch } = useQuery(auditQuery(query))
  const change = (changes: Record<string, unknown>) =>
    navigate({ search: (before) => auditSearch({ ...before, page: undefined, ...changes }) })
  const { actor, subject_kind, subject_id } = search
  const isFiltered = [actor, subject_kind, subject_id].some((value) => value !== undefined)
  const opened = data?.entries.find(({ entry_id }) => entry_id === search.entry)
  const close = () => navigate({ search: ({ entry: _closed, ...rest }) => rest, replace: true })
  const narrow = (filters: Omit<AuditSearch, 'page' | 'entry'>) => navigate({ search: auditSearch(filters) })
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Every change to the settings, every erasure and every export: who did it and when."
      />
      <FilterBar fields={AUDIT_FILTERS} values={{ actor, subject_kind, subject_id }} onChange={change} />
      <DataTable
        label="Audit log"
        columns={columnsWith((entry) => navigate({ search: (before) => ({ ...before, entry }), replace: true }))}
        rows={data?.entries}
        rowKey={({ entry_id }) => entry_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          <EmptyState icon={IconHistory} title={isFiltered ? 'No entry matches' : 'No changes yet'}>
            {isFiltered ? 'Remove a filter to see more.' : 'Every change to the settings is recorded here.'}
          </EmptyState>
        }
        paging={{
          page: query.page,
          limit: query.limit,
          total: data?.pagination.total_items ?? 0,
          onPage: (page) => change({ page: page === 1 ? undefined : page }),
        }}
      />
      <Modal opened={opened !== undefined} onClose={close} title="Audit log entry" size="lg">
        {opened ? <Entry entry={opened} onNarrow={narrow} /> : null}
      </Modal>
    </>
  )
}

interface EntryProps {
  entry: AuditLogEntry
  onNarrow: (filters: Omit<AuditSearch, 'page' | 'entry'>) => void
}

function Entry({ entry, onNarrow }: EntryProps) {
  const { at, actor, action, subject_kind: kind, subject_id: id, details, entry_id: entryId } = entry
  const actorId = actor.id
  return (
    <Stack gap="md">
      <Facts
        facts={[
          ['What', <Foreign key="what">{actionWords(action)}</Foreign>],
          ['When', formatMoment(at)],
          ['Who', <Actor key="who" actor={actor} />],
          ['Actor type', ACTORS[actor.kind]],
          ['Their id', actorId === undefined ? <None key="id" /> : <Foreign key="id">{actorId}</Foreign>],
          ['Subject type', <Foreign key="kind">{kind}</Foreign>],
          ['Its id', id === null ? <None key="subject" /> : <Foreign key="subject">{id}</Foreign>],
          ['Entry', entryId],
        ]}
      />
      {Object.keys(details).length === 0 ? (
        <Text size="sm" c="dimmed">
          No further details.
        </Text>
      ) : (
        <ScrollArea.Autosize mah={360} viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': 'Details' }}>
          <Code block>{JSON.stringify(details, null, 2).slice(0, DETAILS_MAX)}</Code>
        </ScrollArea.Autosize>
      )}
      <Group gap="xs" justify="flex-end">
        <Button variant="default" size="xs" onClick={() => onNarrow({ actor: actorId ?? actor.kind })}>
          All by this actor
        </Button>
        {id === null ? null : (
          <Button variant="default" size="xs" onClick={() => onNarrow({ subject_kind: kind, subject_id: id })}>
            All about this {kind.replaceAll('_', ' ').slice(0, 40)}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

const DETAILS_MAX = 20_000

function columnsWith(onOpen: (entryId: string) => void): Column<AuditLogEntry>[] {
  return [
    {
      id: 'action',
      header: 'What',
      cell: ({ action, entry_id }) => (
        <Anchor component="button" type="button" inherit fw={550} ta="left" onClick={() => onOpen(entry_id)}>
          <Foreign max={80}>{actionWords(action)}</Foreign>
        </Anchor>
      ),
    },
    {
      id: 'actor',
      header: 'Who',
      cell: ({ actor }) => (
        // Long names wrap, so that the actions fit on a phone.
        <Text size="sm" className={classes.name} miw={56}>
          <Actor actor={actor} />
        </Text>
      ),
    },
    {
      id: 'subject',
      header: 'About',
      visibleFrom: 'sm',
      cell: ({ subject_kind: kind, subject_id: id, details }) => (
        <Text size="sm" c="dimmed" truncate maw={300}>
          <Foreign max={120}>{subjectWords(kind, id, details)}</Foreign>
        </Text>
      ),
    },
    { id: 'at', header: 'When', cell: ({ at }) => <Moment at={at} c="dimmed" /> },
  ]
}

const ACTORS: Record<AuditLogEntry['actor']['kind'], string> = {
  user: 'a person',
  api_key: 'an API key',
  command_line: 'the command line',
  agent: 'an agent',
  service: 'the service itself',
}

function Actor({ actor: { kind, name } }: { actor: AuditLogEntry['actor'] }) {
  return name === undefined || name === '' ? ACTORS[kind] : <Foreign max={60}>{name}</Foreign>
}

/** `api_key.created` as "API key created". */
function actionWords(action: string): string {
  const words = action.replaceAll(/[._]/g, ' ').replace(/\bapi\b/, 'API')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** The name of the subject, if the entry has it. */
function subjectWords(kind: string, id: string | null, details: AuditLogEntry['details']): string {
  const called = [details.name, details.domain, details.email, details.event].find((name) => typeof name === 'string')
  return `${kind.replaceAll('_', ' ').replace(/^api\b/, 'API')} ${called ?? id ?? ''}`.trim()
}
