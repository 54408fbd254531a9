import { Card, NativeSelect, SimpleGrid, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call } from '../api/client.ts'
import type { Import } from '../api/types.ts'
import { FormError } from '../ui/form.tsx'
import { showImport } from './import-queries.ts'
import { text } from './text.ts'

/** How a file is read. */
type Format = Partial<Pick<Import, 'encoding' | 'delimiter' | 'header_line'>>

/** How the file is read, and the choice of another format, which reads its columns again. */
export function FileFormat({ of, onChange }: { of: Import; onChange: () => void }) {
  const queryClient = useQueryClient()
  const reading = useMutation({
    scope: { id: `mapping of ${of.import_id}` },
    mutationFn: (format: Format) => call('setImportFormat', { import_id: of.import_id, ...format }),
    onSuccess: (response) => showImport(queryClient, response),
  })
  const { encoding, delimiter, header_line } = of
  const read = (change: Format) => {
    onChange()
    reading.mutate({ encoding, delimiter, header_line, ...change })
  }
  return (
    <Card component="section" aria-labelledby="import-format">
      <Title order={3} size="h6" id="import-format">
        {text.format.heading}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {text.format.reading}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="md">
        <NativeSelect
          label={text.format.encoding}
          description={text.format.encodingHint}
          data={encodingsOf(of)}
          value={encoding}
          disabled={reading.isPending}
          onChange={({ currentTarget: { value } }) => read({ encoding: value as Import['encoding'] })}
        />
        <NativeSelect
          label={text.format.header}
          description={text.format.headerHint}
          data={linesOf(of)}
          value={String(header_line)}
          disabled={reading.isPending}
          onChange={({ currentTarget: { value } }) => read({ header_line: Number(value) })}
        />
        <NativeSelect
          label={text.format.delimiter}
          description={text.format.delimiterHint}
          data={delimitersOf(of)}
          value={delimiter}
          disabled={reading.isPending}
          onChange={({ currentTarget: { value } }) => read({ delimiter: value })}
        />
      </SimpleGrid>
      <FormError error={reading.error} />
    </Card>
  )
}

/** First the likely encodings, with the words of the file as they read in each; then all others. */
function encodingsOf({ encoding, encodings }: Import) {
  const names = text.format.encodings
  const words = new Map(encodings.map((each) => [each.encoding, each.words]))
  const all = Object.keys(names) as Import['encoding'][]
  const ordered = new Set([...words.keys(), encoding, ...all])
  return [...ordered].map((value) => ({ value, label: text.format.words(names[value], words.get(value) ?? '') }))
}

function linesOf({ header_line, first_lines }: Import) {
  const lines = first_lines.map(({ line, cells }) => ({ value: String(line), label: text.format.line(line, cells) }))
  const known = lines.some(({ value }) => value === String(header_line)) || header_line === 0
  const chosen = known ? [] : [{ value: String(header_line), label: text.format.line(header_line, []) }]
  return [...lines, ...chosen, { value: '0', label: text.format.noHeader }]
}

function delimitersOf({ delimiter }: Import) {
  const names = text.format.delimiters
  return [...new Set([...Object.keys(names), delimiter])].map((value) => ({ value, label: names[value] ?? value }))
}
