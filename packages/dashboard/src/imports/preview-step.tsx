import { Alert, Badge, Button, Card, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconArrowRight, IconTable } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { queryOf } from '../api/operation.ts'
import type { Import, PreviewedRow } from '../api/types.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { propertyLabel } from '../ui/property-value.ts'
import { RunProgress } from '../ui/run-progress.tsx'
import { EmptyState, messageOf } from '../ui/states.tsx'
import { Foreign, None } from '../ui/text.tsx'
import { upTo } from '../ui/up-to.ts'
import { ConsentNotice } from './consent-notice.tsx'
import { CountCards } from './count-cards.tsx'
import { Discard } from './discard.tsx'
import { showImport } from './import-queries.ts'
import { RowWarnings } from './row-warnings.tsx'
import classes from './rows.module.css'
import { text } from './text.ts'

/** The third step: what the import would do, computed by the service over the whole file. */
export function PreviewStep({
  of,
  onMapping,
  onStarted,
}: {
  of: Import
  onMapping: () => void
  onStarted: () => void
}) {
  const queryClient = useQueryClient()
  const isReady = of.state === 'previewed'
  const { data, error, refetch } = useQuery({
    ...queryOf('getImportPreview', { import_id: of.import_id }),
    enabled: isReady,
  })
  const [tag, setTag] = useState('')
  const asking = useMutation({
    mutationFn: (action: 'previewImport' | 'startImport') =>
      action === 'startImport'
        ? call('startImport', { import_id: of.import_id, ...(tag.trim() === '' ? {} : { tag: tag.trim() }) })
        : call(action, { import_id: of.import_id }),
    onSuccess: async (response, action) => {
      await showImport(queryClient, response)
      if (action === 'startImport') onStarted()
    },
  })
  const problem = asking.isError ? (
    <Alert color="red" role="alert">
      {messageOf(asking.error)}
    </Alert>
  ) : null
  if (of.state === 'previewing') {
    return (
      <Card maw={820}>
        <RunProgress share={of.progress} label={text.preview.progress}>
          {text.preview.computing}
        </RunProgress>
        <Discard importId={of.import_id} />
      </Card>
    )
  }
  return (
    <Stack>
      <div>
        <Title order={2} size="h4">
          {text.preview.heading}
        </Title>
        <Text size="sm" c="dimmed">
          {isReady ? text.preview.explanation : text.preview.none}
        </Text>
      </div>
      {problem}
      {of.preview ? <CountCards counts={of.preview} labels={text.preview.counts} /> : null}
      <ConsentNotice of={of} />
      <RowWarnings warnings={of.warnings} />
      {isReady ? (
        <TextInput
          label={text.preview.tag}
          description={text.preview.tagHint}
          placeholder={text.preview.tagExample}
          maw={420}
          value={tag}
          {...upTo(100)}
          onChange={({ currentTarget: { value } }) => setTag(value)}
        />
      ) : null}
      <Group justify="space-between">
        <Discard importId={of.import_id} />
        <Group gap="xs">
          <Button variant="default" onClick={onMapping}>
            {text.preview.back}
          </Button>
          {isReady ? (
            <Button loading={asking.isPending} onClick={() => asking.mutate('startImport')}>
              {text.preview.start(of.row_count)}
            </Button>
          ) : (
            <Button loading={asking.isPending} onClick={() => asking.mutate('previewImport')}>
              {text.preview.compute}
            </Button>
          )}
        </Group>
      </Group>
      {isReady ? (
        <section>
          <Title order={3} size="h5" mb="xs">
            {text.preview.rows.title}
          </Title>
          <DataTable
            label={text.preview.rows.label}
            columns={COLUMNS}
            rows={data?.rows}
            rowKey={({ row }) => String(row)}
            error={error}
            onRetry={refetch}
            empty={
              <EmptyState icon={IconTable} title={text.preview.rows.none} order={2}>
                {text.preview.rows.noRows}
              </EmptyState>
            }
          />
        </section>
      ) : null}
    </Stack>
  )
}

const STATUS_COLORS = { created: 'green', updated: 'blue', unchanged: 'gray', failed: 'red' } as const

const COLUMNS: Column<PreviewedRow>[] = [
  { id: 'row', header: text.preview.rows.row, visibleFrom: 'sm', cell: ({ row }) => formatNumber(row) },
  {
    id: 'contact',
    header: text.preview.rows.contact,
    cell: ({ contact_id: contactId, email, status }) => {
      const name = email === null ? <None /> : <Foreign max={80}>{email}</Foreign>
      return (
        <Stack gap={4} align="flex-start" className={classes.contact}>
          <Badge color={STATUS_COLORS[status]}>{text.preview.statuses[status]}</Badge>
          {contactId === null ? (
            <span>{name}</span>
          ) : (
            <AnchorLink inherit to="/contacts/$contactId" params={{ contactId }}>
              {email === null ? contactId : name}
            </AnchorLink>
          )}
        </Stack>
      )
    },
  },
  { id: 'changes', header: text.preview.rows.changes, cell: (row) => <Changes of={row} /> },
]

/** A row's changes by property, or its error. */
function Changes({ of: { changes, error } }: { of: PreviewedRow }) {
  if (error) {
    return (
      <Text size="sm" c="red" className={classes.changes}>
        <Foreign max={1_000}>{error.message}</Foreign>
      </Text>
    )
  }
  if (changes.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {text.preview.noChanges}
      </Text>
    )
  }
  return (
    // Side by side, so that many rows fit on the screen.
    <Group gap="2px 16px" className={classes.changes}>
      {changes.map(({ property, before, after }) => (
        <Group key={property} gap="0 6px">
          <Text size="sm" c="dimmed">
            <Foreign max={60}>{propertyLabel(property)}</Foreign>
          </Text>
          {before === null ? null : (
            <>
              <Text size="sm" td="line-through">
                <Foreign max={80}>{before}</Foreign>
              </Text>
              <IconArrowRight size={14} role="img" aria-label={text.preview.becomes} />
            </>
          )}
          <Text size="sm" fw={550}>
            {after === null ? <None /> : <Foreign max={80}>{after}</Foreign>}
          </Text>
        </Group>
      ))}
    </Group>
  )
}
