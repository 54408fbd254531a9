import { Alert, Badge, Button, Group, List as Lines, Modal, NativeSelect, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconSparkles } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { EnrichmentRun, ListedEnrichmentRun } from '../api/types.ts'
import { allSegmentsQuery, segmentsOf } from '../filters/all-segments.ts'
import { useMay } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import type { Column } from '../ui/data-table.tsx'
import { FormError } from '../ui/form.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { List } from '../ui/list-page.tsx'
import { RunProgress } from '../ui/run-progress.tsx'
import { SettingsPart } from '../ui/settings-part.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { text } from './enrichment-text.ts'

const route = getRouteApi('/shell/settings/enrichment')
/** Rows per page. */
const RUNS_LENGTH = 20
const REFRESH_MS = 1_500
const words = text.runs

function isAtWork({ state }: Pick<ListedEnrichmentRun, 'state'>): boolean {
  return state === 'queued' || state === 'running' || state === 'undoing'
}

/** Enriches the contacts that exist already, and shows how far that is. @param isOffered whether an enricher was just switched on. */
export function EnrichmentRuns({ isOffered, onAnswer }: { isOffered: boolean; onAnswer: () => void }) {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useMay('contacts:write')
  const runs = useQuery({
    ...queryOf('listEnrichmentRuns', { page, limit: RUNS_LENGTH }),
    refetchInterval: ({ state }) => (state.data?.runs.some(isAtWork) ? REFRESH_MS : false),
  })
  return (
    <SettingsPart title={words.title}>
      <Text size="sm" c="dimmed">
        {words.explanation}
      </Text>
      {mayWrite ? (
        <Start isBusy={runs.data?.runs.some(isAtWork) ?? false} isOffered={isOffered} onAnswer={onAnswer} />
      ) : null}
      <List
        label={words.title}
        query={runs}
        rowsOf={(data) => data.runs}
        rowKey={({ run_id }) => run_id}
        columns={mayWrite ? [...COLUMNS, ACTIONS] : COLUMNS}
        empty={{ icon: IconSparkles, title: words.empty, hint: words.emptyHint }}
        paging={{
          page,
          limit: RUNS_LENGTH,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
    </SettingsPart>
  )
}

interface StartProps {
  isBusy: boolean
  isOffered: boolean
  onAnswer: () => void
}

function Start({ isBusy, isOffered, onAnswer }: StartProps) {
  const [segmentId, setSegmentId] = useState('')
  const { data: segments, error, refetch } = useQuery(allSegmentsQuery)
  const starting = useOperation('startEnrichmentRun', { onDone: onAnswer })
  const start = () => starting.mutate(segmentId === '' ? {} : { segment_id: segmentId })
  return (
    <>
      {isOffered ? (
        <Alert title={words.offer} role="status" withCloseButton closeButtonLabel={words.notNow} onClose={onAnswer}>
          {words.offerHint}
        </Alert>
      ) : null}
      {error ? <ErrorState error={error} onRetry={refetch} /> : null}
      <Group align="flex-end" gap="xs">
        <NativeSelect
          label={words.which}
          value={segmentId}
          onChange={(event) => setSegmentId(event.currentTarget.value)}
          data={[
            { value: '', label: words.all },
            ...segmentsOf(segments, 'contacts').map(({ segment_id, name }) => ({
              value: segment_id,
              label: words.segment(name.slice(0, 80)),
            })),
          ]}
        />
        <Button
          leftSection={<IconSparkles size={16} aria-hidden />}
          loading={starting.isPending}
          disabled={isBusy}
          onClick={start}
        >
          {words.start}
        </Button>
      </Group>
      <FormError error={starting.error} />
    </>
  )
}

const COLUMNS: Column<ListedEnrichmentRun>[] = [
  { id: 'created', header: words.requested, cell: ({ created_at: at }) => <Moment at={at} fw={550} /> },
  { id: 'contacts', header: words.contacts, visibleFrom: 'sm', cell: (run) => <Contacts of={run} /> },
  { id: 'state', header: words.state, cell: (run) => <State of={run} /> },
  {
    id: 'enriched',
    header: words.enriched,
    align: 'right',
    cell: ({ enriched }) => formatNumber(enriched),
  },
  {
    id: 'others',
    header: words.attention,
    align: 'right',
    visibleFrom: 'sm',
    cell: (run) => (run.failed + (run.undo?.kept ?? 0) === 0 ? <None /> : <Attention of={run} />),
  },
]

const ACTIONS: Column<ListedEnrichmentRun> = {
  id: 'actions',
  header: words.actions,
  align: 'right',
  cell: (run) => <Action of={run} />,
}

function Contacts({ of: { matching } }: { of: ListedEnrichmentRun }) {
  const { data: segments } = useQuery(allSegmentsQuery)
  const { contact_ids: ids, segment_id: segmentId, import_id: importId, filter } = matching
  const parts = [
    ...(ids === undefined ? [] : [words.chosen(ids.length)]),
    ...(segmentId === undefined ? [] : [words.segment(segments?.get(segmentId)?.name ?? segmentId)]),
    ...(importId === undefined ? [] : [words.import]),
    ...(filter === undefined ? [] : [words.filter]),
  ]
  return <Foreign max={120}>{parts.length === 0 ? words.all : parts.join(', ')}</Foreign>
}

const COLORS = { completed: 'green', failed: 'red', cancelled: 'gray', undone: 'gray' } as const

function State({ of }: { of: ListedEnrichmentRun }) {
  const { state, looked_at: done, total, undo, error } = of
  if (state === 'queued' || state === 'running' || state === 'undoing') {
    return (
      <RunProgress share={of.progress} label={words.progress}>
        {state === 'undoing' ? words.states.undoing : words.done(done, Math.max(done, total))}
      </RunProgress>
    )
  }
  return (
    <Stack gap={2} align="flex-start">
      <Badge color={COLORS[state]}>{words.states[state]}</Badge>
      {undo ? (
        <Text size="xs" c="dimmed">
          {words.undone(undo.restored, undo.companies_deleted)}
        </Text>
      ) : null}
      {error ? (
        <Text size="xs" c="dimmed">
          <Foreign>{error.message}</Foreign>
        </Text>
      ) : null}
    </Stack>
  )
}

/** Cancels or undoes a run, once confirmed. */
function Action({ of: { run_id, state, can_undo } }: { of: ListedEnrichmentRun }) {
  const cancelling = useOperation('cancelEnrichmentRun')
  const undoing = useOperation('undoEnrichmentRun')
  const input = { enrichment_run_id: run_id }
  if (state === 'queued' || state === 'running') {
    return (
      <ConfirmButton
        size="xs"
        title={words.cancel.title}
        explanation={words.cancel.explanation}
        confirmLabel={words.cancel.button}
        onConfirm={() => cancelling.mutateAsync(input)}
      >
        {words.cancel.button}
      </ConfirmButton>
    )
  }
  if (!can_undo) return <None />
  return (
    <ConfirmButton
      size="xs"
      title={words.undo.title}
      explanation={words.undo.explanation}
      confirmLabel={words.undo.button}
      onConfirm={() => undoing.mutateAsync(input)}
    >
      {words.undo.button}
    </ConfirmButton>
  )
}

/** How many contacts failed or were kept; opens the first of them. */
function Attention({ of }: { of: ListedEnrichmentRun }) {
  const [isOpen, { open, close }] = useDisclosure()
  const count = of.failed + (of.undo?.kept ?? 0)
  return (
    <>
      <Button variant="subtle" size="compact-sm" aria-label={words.openAttention(count)} onClick={open}>
        {formatNumber(count)}
      </Button>
      <Modal opened={isOpen} onClose={close} title={words.attention}>
        <FirstContacts runId={of.run_id} />
      </Modal>
    </>
  )
}

function FirstContacts({ runId }: { runId: string }) {
  const { data, error, refetch } = useQuery(queryOf('getEnrichmentRun', { enrichment_run_id: runId }))
  if (!data) return error ? <ErrorState error={error} onRetry={refetch} /> : <LoadingState lines={4} />
  return <Listed of={data.run} />
}

function Listed({ of: { errors, undo } }: { of: EnrichmentRun }) {
  const kept = undo?.kept_contacts ?? []
  return (
    <Stack>
      <ContactLines title={words.failed} lines={errors.map(({ contact_id, error }) => [contact_id, error.message])} />
      <ContactLines title={words.kept} lines={kept.map(({ contact_id, kept }) => [contact_id, kept.join(', ')])} />
    </Stack>
  )
}

function ContactLines({ title, lines }: { title: string; lines: (readonly [contactId: string, why: string])[] }) {
  if (lines.length === 0) return null
  return (
    <div>
      <Text size="sm" fw={550}>
        {title}
      </Text>
      <Lines size="sm">
        {lines.map(([contactId, why]) => (
          <Lines.Item key={contactId}>
            <AnchorLink inherit to="/contacts/$contactId" params={{ contactId }}>
              {contactId.slice(0, 13)}
            </AnchorLink>{' '}
            <Foreign>{why}</Foreign>
          </Lines.Item>
        ))}
      </Lines>
    </div>
  )
}
