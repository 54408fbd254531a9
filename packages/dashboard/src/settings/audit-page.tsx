import { Anchor, Button, Code, Group, Modal, ScrollArea, Stack, Text } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import type { AuditLogEntry } from '../api/types.ts'
import type { Column } from '../ui/data-table.tsx'
import { Facts } from '../ui/facts.tsx'
import { FilterBar } from '../ui/filter-bar.tsx'
import type { FilterField } from '../ui/filter-form.tsx'
import { formatMoment } from '../ui/format.ts'
import { ListPage } from '../ui/list-page.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { type AuditSearch, auditSearch, toAuditQuery } from './audit-search.ts'
import { text } from './audit-text.ts'
import { Actor, actorName, entryWords, kindWords, Subject } from './audit-words.tsx'
import classes from './settings-table.module.css'

const labels = text.filters

/** The service's filters of the audit log. */
const AUDIT_FILTERS: FilterField[] = [
  {
    name: 'actor',
    label: labels.actor,
    kind: 'text',
    description: labels.actorHint,
    suggestions: ['user', 'api_key', 'agent', 'command_line', 'service'],
  },
  {
    name: 'subject_kind',
    label: labels.subjectKind,
    kind: 'choice',
    options: Object.entries(text.kinds).map(([value, label]) => ({ value, label })),
  },
  { name: 'subject_id', label: labels.subjectId, kind: 'text' },
]

const route = getRouteApi('/shell/settings/audit')

/** All changes of settings: what, who and when. */
export function AuditPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = toAuditQuery(search)
  const log = useQuery(queryOf('listAuditLog', query))
  const change = (changes: Record<string, unknown>) =>
    navigate({ search: (before) => auditSearch({ ...before, page: undefined, ...changes }) })
  const { actor, subject_kind, subject_id } = search
  const isFiltered = [actor, subject_kind, subject_id].some((value) => value !== undefined)
  const opened = log.data?.entries.find(({ entry_id }) => entry_id === search.entry)
  const close = () => navigate({ search: ({ entry: _closed, ...rest }) => rest, replace: true })
  const narrow = (filters: Omit<AuditSearch, 'page' | 'entry'>) => navigate({ search: auditSearch(filters) })
  return (
    <>
      <ListPage
        title={text.title}
        description={text.description}
        bar={<FilterBar fields={AUDIT_FILTERS} values={{ actor, subject_kind, subject_id }} onChange={change} />}
        label={text.table}
        query={log}
        rowsOf={({ entries }) => entries}
        rowKey={({ entry_id }) => entry_id}
        columns={columnsWith((entry) => navigate({ search: (before) => ({ ...before, entry }), replace: true }))}
        empty={{
          icon: IconHistory,
          title: isFiltered ? text.noMatch : text.empty,
          hint: isFiltered ? text.noMatchHint : text.emptyHint,
        }}
        paging={{
          page: query.page,
          limit: query.limit,
          onPage: (page) => change({ page: page === 1 ? undefined : page }),
        }}
      />
      <Modal opened={opened !== undefined} onClose={close} title={text.entry} size="lg">
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
  const { at, actor, subject_kind: kind, subject_id: id, details, entry_id: entryId } = entry
  const actorId = actor.id
  return (
    <Stack gap="md">
      <Facts
        facts={[
          [text.what, entryWords(entry)],
          [text.about, <Subject key="subject" entry={entry} />],
          [text.when, formatMoment(at)],
          [text.who, <Actor key="who" actor={actor} />],
          [text.actorId, actorId === undefined ? <None key="actor" /> : <Foreign key="actor">{actorId}</Foreign>],
          [text.subjectKind, <Foreign key="kind">{kindWords(kind)}</Foreign>],
          [text.subjectId, id === null ? <None key="id" /> : <Foreign key="id">{id}</Foreign>],
          [text.entryId, entryId],
        ]}
      />
      {Object.keys(details).length === 0 ? (
        <Text size="sm" c="dimmed">
          {text.noDetails}
        </Text>
      ) : (
        <ScrollArea.Autosize mah={360} viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': text.details }}>
          <Code block>{JSON.stringify(details, null, 2).slice(0, DETAILS_MAX)}</Code>
        </ScrollArea.Autosize>
      )}
      <Group gap="xs" justify="flex-end">
        <Button variant="default" size="xs" onClick={() => onNarrow({ actor: actorId ?? actor.kind })}>
          {text.byActor(actorName(actor).slice(0, 60))}
        </Button>
        {id === null ? null : (
          <Button variant="default" size="xs" onClick={() => onNarrow({ subject_kind: kind, subject_id: id })}>
            {text.aboutSubject(kindWords(kind))}
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
      header: text.what,
      cell: (entry) => (
        <Anchor
          component="button"
          type="button"
          inherit
          fw={550}
          ta="left"
          className={classes.name}
          onClick={() => onOpen(entry.entry_id)}
        >
          {entryWords(entry)}
        </Anchor>
      ),
    },
    {
      id: 'actor',
      header: text.who,
      cell: ({ actor }) => (
        // Long names wrap, so that the actions fit on a phone.
        <Text size="sm" className={classes.name} miw={80}>
          <Actor actor={actor} />
        </Text>
      ),
    },
    {
      id: 'subject',
      header: text.about,
      visibleFrom: 'sm',
      cell: (entry) => (
        <Text size="sm" truncate maw={240}>
          <Subject entry={entry} />
        </Text>
      ),
    },
    { id: 'at', header: text.when, cell: ({ at }) => <Moment at={at} c="dimmed" /> },
  ]
}
