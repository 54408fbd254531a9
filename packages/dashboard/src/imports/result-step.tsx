import { Alert, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { IconArrowBackUp, IconDownload, IconFilter, IconPlayerStop, IconUsers } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../api/client.ts'
import { refreshAfter, useOperation } from '../api/operation.ts'
import type { Import } from '../api/types.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { FormError } from '../ui/form.tsx'
import { formatNumber } from '../ui/format.ts'
import { ButtonLink } from '../ui/link.tsx'
import { RunProgress } from '../ui/run-progress.tsx'
import { Foreign } from '../ui/text.tsx'
import { ConsentNotice } from './consent-notice.tsx'
import { CountCards } from './count-cards.tsx'
import { isAtWork, showImport } from './import-queries.ts'
import { KeptContacts } from './kept-contacts.tsx'
import { RowWarnings } from './row-warnings.tsx'
import classes from './rows.module.css'
import { text } from './text.ts'

/** The last step: the progress of an import, then its result, with what can be done about it. */
export function ResultStep({ of }: { of: Import }) {
  return (
    <Stack>
      {isAtWork(of) ? <AtWork of={of} /> : <Ended of={of} />}
      {of.started_at === null ? null : <CountCards counts={of.counts} labels={text.result.counts} />}
      {of.state === 'completed' ? <ConsentNotice of={of} /> : null}
      {of.started_at === null ? null : <RowWarnings warnings={of.warnings} />}
      {of.counts.failed > 0 ? <FailedRows of={of} /> : null}
      {of.undo && of.undo.kept > 0 ? <KeptContacts importId={of.import_id} /> : null}
    </Stack>
  )
}

function AtWork({ of }: { of: Import }) {
  const isUndoing = of.state === 'undoing'
  const { created, updated, unchanged, failed } = of.counts
  const done =
    of.row_count === null ? text.result.reading : text.result.done(created + updated + unchanged + failed, of.row_count)
  return (
    <Card maw={820}>
      <Stack gap="xs">
        <RunProgress share={of.progress} label={isUndoing ? text.result.undoProgress : text.result.progress}>
          {isUndoing ? text.result.undoing : done}
        </RunProgress>
        <Text size="sm" c="dimmed">
          {text.result.inBackground}
        </Text>
        {isUndoing ? null : (
          <div>
            <ActionButton of={of} action="cancel" />
          </div>
        )}
      </Stack>
    </Card>
  )
}

/** A button that cancels or undoes an import, once confirmed. */
function ActionButton({ of, action }: { of: Import; action: 'cancel' | 'undo' }) {
  const queryClient = useQueryClient()
  const act = async () => {
    await showImport(
      queryClient,
      await call(action === 'undo' ? 'undoImport' : 'cancelImport', { import_id: of.import_id }),
    )
    await refreshAfter(queryClient, 'updateContact')
  }
  const { cancel, cancelTitle, cancelExplanation, undo } = text.result
  const isUndo = action === 'undo'
  const Icon = isUndo ? IconArrowBackUp : IconPlayerStop
  return (
    <ConfirmButton
      leftSection={<Icon size={16} aria-hidden />}
      title={isUndo ? undo.title : cancelTitle}
      explanation={isUndo ? undo.explanation : cancelExplanation}
      confirmLabel={isUndo ? undo.button : cancel}
      onConfirm={act}
    >
      {isUndo ? undo.button : cancel}
    </ConfirmButton>
  )
}

function Ended({ of }: { of: Import }) {
  const queryClient = useQueryClient()
  const continuing = useMutation({
    mutationFn: () => call('startImport', { import_id: of.import_id }),
    onSuccess: (response) => showImport(queryClient, response),
  })
  const state = of.state === 'completed' || of.state === 'failed' || of.state === 'undone' ? of.state : 'cancelled'
  // After an undo, the contacts that it created and kept, and those that it updated.
  const written = of.counts.created + of.counts.updated - (of.undo?.deleted ?? 0)
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {text.result.heading[state]}
      </Title>
      {of.error ? (
        <Alert color={state === 'failed' ? 'red' : 'orange'} role="alert">
          <Foreign max={1_000}>{of.error.message}</Foreign>
        </Alert>
      ) : null}
      {of.tag === null || state === 'undone' ? null : (
        <Text size="sm" c="dimmed">
          <Foreign max={200}>{text.result.tagged(of.tag)}</Foreign>
        </Text>
      )}
      {of.undo ? <Text size="sm">{text.result.undo.result(of.undo)}</Text> : null}
      <FormError error={continuing.error} />
      <Group gap="xs">
        {written > 0 ? (
          <ButtonLink
            leftSection={<IconUsers size={16} aria-hidden />}
            to="/contacts"
            search={{ import_id: of.import_id }}
          >
            {text.result.viewContacts}
          </ButtonLink>
        ) : null}
        {written > 0 && of.tag !== null && state !== 'undone' ? <TagSegment tag={of.tag} /> : null}
        {state === 'failed' && of.has_file && of.error?.code !== 'invalid_file' ? (
          <Button loading={continuing.isPending} onClick={() => continuing.mutate()}>
            {text.result.again}
          </Button>
        ) : null}
        <ButtonLink variant="default" to="/imports/new">
          {text.result.another}
        </ButtonLink>
        {of.can_undo ? <ActionButton of={of} action="undo" /> : null}
      </Group>
    </Stack>
  )
}

/** Makes a segment of the contacts with a tag in one click, and opens it. */
function TagSegment({ tag }: { tag: string }) {
  const navigate = useNavigate()
  const creating = useOperation('createSegment', {
    onDone: ({ segment }) => navigate({ to: '/segments/$segmentId', params: { segmentId: segment.segment_id } }),
  })
  const filter = { match: 'all' as const, conditions: [{ property: 'tags', operator: 'equals' as const, value: tag }] }
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconFilter size={16} aria-hidden />}
        loading={creating.isPending}
        onClick={() => creating.mutate({ name: tag, filter })}
      >
        {text.result.createSegment}
      </Button>
      <FormError error={creating.error} />
    </>
  )
}

function FailedRows({ of }: { of: Import }) {
  return (
    <Stack component="section" gap="sm">
      <Title order={2} size="h4">
        {text.result.errors.title}
      </Title>
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed">
          {of.failed_rows_url === null ? text.result.fileDeleted : text.result.downloadHint(of.counts.failed)}
        </Text>
        {of.failed_rows_url === null ? null : (
          <Button
            component="a"
            href={of.failed_rows_url}
            download
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            {text.result.download}
          </Button>
        )}
      </Group>
      <FirstErrors errors={of.errors} />
    </Stack>
  )
}

type RowError = Import['errors'][number]

/** The first rows that failed. */
function FirstErrors({ errors }: { errors: RowError[] }) {
  if (errors.length === 0) return null
  return (
    <DataTable
      label={text.result.errors.label}
      columns={COLUMNS}
      rows={errors}
      rowKey={({ row }) => String(row)}
      empty={text.result.errors.none}
    />
  )
}

const COLUMNS: Column<RowError>[] = [
  { id: 'row', header: text.result.errors.row, cell: ({ row }) => formatNumber(row) },
  {
    id: 'message',
    header: text.result.errors.message,
    cell: ({ message }) => (
      <div className={classes.changes}>
        <Foreign max={1_000}>{message}</Foreign>
      </div>
    ),
  },
]
