import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import type { ColumnMapping, Import } from '../api/types.ts'
import { propertyLabel } from '../ui/property-value.ts'
import { Foreign } from '../ui/text.tsx'
import { FORMATS, type FormatName, formatOf, withFormat } from './mapping-draft.ts'
import classes from './mapping-table.module.css'
import { text } from './text.ts'

const OPTIONS = FORMATS.map((value) => ({ value, label: text.mapping.formats[value] }))

interface CellFormatProps {
  /** The name of the column. */
  name: string
  column: Import['columns'][number] | undefined
  mapping: ColumnMapping
  /** Of the file, on which the usual notation of numbers depends. */
  delimiter: string
  onChange: (mapping: ColumnMapping) => void
}

/** How a column's cells are read: the guess, an example of what it does, and another choice where the values fit two. */
export function CellFormat({ name, column, mapping, delimiter, onChange }: CellFormatProps) {
  const format = formatOf(mapping, delimiter)
  const choose = (value: string) => {
    const next = FORMATS.find((each) => each === value)
    if (next) onChange(withFormat(mapping, next))
  }
  return (
    <Stack gap={6} className={classes.cell}>
      {mapping.target === 'property' ? (
        <NativeSelect
          aria-label={text.mapping.type(name)}
          data={OPTIONS}
          value={format}
          onChange={({ currentTarget: { value } }) => choose(value)}
        />
      ) : null}
      {mapping.target === 'property' && column?.is_ambiguous ? <Guess format={format} onChoose={choose} /> : null}
      <Example of={column?.example ?? null} />
    </Stack>
  )
}

const OTHERS: Partial<Record<FormatName, FormatName>> = {
  'date:day_first': 'date:month_first',
  'date:month_first': 'date:day_first',
  'number:decimal_point': 'number:decimal_comma',
  'number:decimal_comma': 'number:decimal_point',
}

/** Says that the format is a guess, with a button for the other one. */
function Guess({ format, onChoose }: { format: FormatName; onChoose: (format: FormatName) => void }) {
  const other = OTHERS[format]
  if (other === undefined) return null
  return (
    <div>
      <Text size="xs" c="dimmed">
        {text.mapping.guess}
      </Text>
      <Button variant="subtle" size="compact-xs" px={0} onClick={() => onChoose(other)}>
        {text.mapping.readAs(text.mapping.formats[other])}
      </Button>
    </div>
  )
}

/** What becomes of the first value that is stored in another way than it is written. */
function Example({ of }: { of: Import['columns'][number]['example'] }) {
  if (of === null) return null
  const { before, after } = of
  const isDivided = after.length > 1
  return (
    <Group gap="2px 6px" className={classes.example}>
      <Text size="xs" c="dimmed">
        <Foreign max={60}>{before}</Foreign>
      </Text>
      <IconArrowRight size={12} role="img" aria-label={text.preview.becomes} />
      {after.length === 0 ? (
        <Text size="xs" c="red">
          {text.mapping.doesNotFit}
        </Text>
      ) : (
        after.map(({ property, value }) => (
          <Text key={property} size="xs" fw={550}>
            {isDivided ? <span className={classes.part}>{propertyLabel(property)} </span> : null}
            <Foreign max={60}>{value}</Foreign>
          </Text>
        ))
      )}
    </Group>
  )
}
