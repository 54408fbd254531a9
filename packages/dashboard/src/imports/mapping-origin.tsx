import { Button, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call } from '../api/client.ts'
import type { Import } from '../api/types.ts'
import { FormError } from '../ui/form.tsx'
import { formatDay } from '../ui/format.ts'
import { Foreign } from '../ui/text.tsx'
import { showImport } from './import-queries.ts'
import { text } from './text.ts'

/** Where the suggested mapping comes from: an earlier file with the same columns, a known system, or the file itself. */
export function MappingOrigin({ of, onStartOver }: { of: Import; onStartOver: () => void }) {
  const queryClient = useQueryClient()
  const { import_id, encoding, delimiter, header_line, recognized_as: source, remembered } = of
  const startingOver = useMutation({
    scope: { id: `mapping of ${import_id}` },
    mutationFn: () => call('setImportFormat', { import_id, encoding, delimiter, header_line, use_remembered: false }),
    onSuccess: (response) => showImport(queryClient, response),
  })
  if (remembered === null) {
    return (
      <Text size="sm" c="dimmed">
        {source === null ? text.mapping.notRecognized : text.mapping.recognized(text.mapping.sources[source])}
      </Text>
    )
  }
  return (
    <>
      <Group gap="xs">
        <Text size="sm" c="dimmed">
          <Foreign max={200}>{text.mapping.remembered(remembered.file_name, formatDay(remembered.used_at))}</Foreign>
        </Text>
        <Button
          variant="subtle"
          size="compact-sm"
          loading={startingOver.isPending}
          onClick={() => {
            onStartOver()
            startingOver.mutate()
          }}
        >
          {text.mapping.startOver}
        </Button>
      </Group>
      <FormError error={startingOver.error} />
    </>
  )
}
