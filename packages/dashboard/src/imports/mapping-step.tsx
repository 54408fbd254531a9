import { Alert, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { queryOf } from '../api/operation.ts'
import type { ColumnMapping, Import } from '../api/types.ts'
import { FormError } from '../ui/form.tsx'
import { Discard } from './discard.tsx'
import { FileFormat } from './file-format.tsx'
import { importQuery, showImport, showMapping } from './import-queries.ts'
import { draftOf, hasKey, problemsOf, toMapping } from './mapping-draft.ts'
import { MappingOrigin } from './mapping-origin.tsx'
import { MappingTable } from './mapping-table.tsx'
import { text } from './text.ts'

const SAVE_AFTER_MS = 400

/** The second step: where the columns go. What is correct is saved at once, and continuing requests a preview of it. */
export function MappingStep({ of, onPreview }: { of: Import; onPreview: () => void }) {
  const queryClient = useQueryClient()
  const { data } = useQuery(queryOf('listProperties', { entity: 'contacts' }))
  const [draft, setDraft] = useState(() => draftOf(of))
  const nameOf = (column: number) => of.columns[column]?.header || text.mapping.noName(column + 1)
  const problems = problemsOf(draft, nameOf)
  const isCorrect = (all: readonly ColumnMapping[]) => hasKey(all) && problemsOf(all, nameOf).size === 0
  // Requests of one scope are sent one after another.
  const scope = { id: `mapping of ${of.import_id}` }
  const saving = useMutation({
    scope,
    mutationFn: (all: readonly ColumnMapping[]) =>
      call('setImportMapping', { import_id: of.import_id, columns: toMapping(all) }),
    onMutate: (all) => showMapping(queryClient, of.import_id, toMapping(all)),
    onSuccess: (response) => showImport(queryClient, response),
    onError: () => queryClient.invalidateQueries(importQuery(of.import_id)),
  })
  const save = useDebouncedCallback(saving.mutate, { delay: SAVE_AFTER_MS, flushOnUnmount: true })
  const change = (next: ColumnMapping) => {
    const all = draft.map((each) => (each.column === next.column ? next : each))
    setDraft(all)
    if (isCorrect(all)) save(all)
    else save.flush()
  }
  const asking = useMutation({
    scope,
    mutationFn: async () => {
      await call('setImportMapping', { import_id: of.import_id, columns: toMapping(draft) })
      return call('previewImport', { import_id: of.import_id })
    },
    onSuccess: async (response) => {
      await showImport(queryClient, response)
      onPreview()
    },
  })
  const error = asking.error ?? saving.error
  return (
    <Stack>
      <div>
        <Title order={2} size="h4">
          {text.mapping.heading}
        </Title>
        <MappingOrigin of={of} onStartOver={save.cancel} />
      </div>
      <FileFormat of={of} onChange={save.cancel} />
      {hasKey(draft) ? null : (
        <Alert color="orange" role="alert">
          {text.mapping.problems.key}
        </Alert>
      )}
      <Card p={0}>
        <MappingTable
          columns={of.columns}
          delimiter={of.delimiter}
          draft={draft}
          problems={problems}
          properties={data?.properties ?? []}
          nameOf={nameOf}
          onChange={change}
        />
      </Card>
      <FormError error={error} />
      <Group justify="space-between">
        <Discard importId={of.import_id} />
        <Group gap="sm">
          <Text size="sm" c="dimmed">
            {isCorrect(draft) ? text.mapping.saved : text.mapping.notSaved}
          </Text>
          <Button
            loading={asking.isPending}
            disabled={!isCorrect(draft)}
            onClick={() => {
              save.cancel()
              asking.mutate()
            }}
          >
            {text.mapping.continue}
          </Button>
        </Group>
      </Group>
    </Stack>
  )
}
