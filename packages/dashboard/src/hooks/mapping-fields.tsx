import { ActionIcon, Button, Card, Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { type SetStateAction, useMemo } from 'react'
import { Foreign } from '../ui/text.tsx'
import { upTo } from '../ui/up-to.ts'
import {
  type ConditionRow,
  type Draft,
  nameOf,
  newCondition,
  newRow,
  type Part,
  type Row,
  valueAt,
  valuesOf,
} from './mapping-draft.ts'
import { text } from './text.ts'

const words = text.mapping
const PARTS: readonly Part[] = ['contact', 'event', 'company']

interface FieldsProps {
  draft: Draft
  setDraft: (change: SetStateAction<Draft>) => void
  /** What the fields' values are shown of. */
  sample: unknown
  /** The row that a click in the sample fills. */
  selected: string | null
  onSelect: (rowId: string) => void
  isReadOnly: boolean
}

/** The fields of a mapping, by part, and the conditions. */
export function MappingFields(props: FieldsProps) {
  const { sample } = props
  const values = useMemo(() => valuesOf(sample), [sample])
  return (
    <Stack gap="md">
      {PARTS.map((part) => (
        <PartFields key={part} part={part} values={values} {...props} />
      ))}
      <Conditions {...props} />
      <Text size="xs" c="dimmed">
        {words.alternatives}
      </Text>
    </Stack>
  )
}

interface PartProps extends FieldsProps {
  part: Part
  values: ReadonlyMap<string, unknown>
}

function PartFields({ part, draft, setDraft, values, selected, onSelect, isReadOnly }: PartProps) {
  const rows = draft.rows.filter((row) => row.part === part)
  const keyed = rows.filter(({ name }) => name === null)
  const change = (id: string, changes: Partial<Row>) =>
    setDraft(({ rows: all, ...others }) => ({
      ...others,
      rows: all.map((row) => (row.id === id ? { ...row, ...changes } : row)),
    }))
  const remove = (id: string) =>
    setDraft(({ rows: all, ...others }) => ({ ...others, rows: all.filter((row) => row.id !== id) }))
  const add = () => {
    const row = newRow(part)
    setDraft(({ rows: all, ...others }) => ({ ...others, rows: [...all, row] }))
    onSelect(row.id)
  }
  return (
    <Card component="section" aria-label={words.parts[part]}>
      <Title order={2} size="h5">
        {words.parts[part]}
      </Title>
      <Text size="xs" c="dimmed" mb="sm">
        {words.partExplanations[part]}
      </Text>
      <Stack gap="sm">
        {rows.map((row) => (
          <RowFields
            key={row.id}
            row={row}
            number={keyed.indexOf(row) + 1}
            value={values.size > 0 ? valueAt(values, row.text) : null}
            isSelected={row.id === selected}
            isReadOnly={isReadOnly}
            onSelect={() => onSelect(row.id)}
            onChange={(changes) => change(row.id, changes)}
            onRemove={() => remove(row.id)}
          />
        ))}
        {isReadOnly ? null : (
          <Button
            variant="subtle"
            size="compact-sm"
            style={{ alignSelf: 'flex-start' }}
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={add}
          >
            {words.addField[part]}
          </Button>
        )}
      </Stack>
    </Card>
  )
}

interface RowProps {
  row: Row
  /** Of a property or a field of the data. */
  number: number
  /** Of the sample; undefined: it has none there; null: there is no sample. */
  value: unknown
  isSelected: boolean
  isReadOnly: boolean
  onSelect: () => void
  onChange: (changes: Partial<Row>) => void
  onRemove: () => void
}

function RowFields({ row, number, value, isSelected, isReadOnly, onSelect, onChange, onRemove }: RowProps) {
  const name = nameOf(row)
  const own = row.name === null
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      <Stack gap={4} flex={1} miw={0}>
        {own ? (
          <TextInput
            size="xs"
            aria-label={words.key(words.keyOf[row.part], number)}
            readOnly={isReadOnly}
            {...upTo(128)}
            value={row.key}
            onFocus={onSelect}
            onChange={(event) => onChange({ key: event.currentTarget.value })}
          />
        ) : (
          <Text size="sm" fw={500}>
            {name}
          </Text>
        )}
        <Group gap={4} wrap="nowrap">
          <NativeSelect
            size="xs"
            w={84}
            aria-label={words.source(name)}
            disabled={isReadOnly}
            value={row.from}
            onFocus={onSelect}
            onChange={(event) => onChange({ from: event.currentTarget.value as Row['from'] })}
            data={[
              { value: 'path', label: words.path },
              { value: 'value', label: words.fixed },
            ]}
          />
          <TextInput
            size="xs"
            flex={1}
            miw={0}
            aria-label={name}
            readOnly={isReadOnly}
            placeholder={row.from === 'path' ? words.pathPlaceholder : words.fixedPlaceholder}
            {...upTo(5_000)}
            value={row.text}
            styles={isSelected ? { input: { borderColor: 'var(--mantine-primary-color-filled)' } } : {}}
            onFocus={onSelect}
            onChange={(event) => onChange({ text: event.currentTarget.value })}
          />
        </Group>
        {row.from === 'path' && row.text.trim() !== '' && value !== null ? <InSample value={value} /> : null}
      </Stack>
      {own && !isReadOnly ? (
        <ActionIcon variant="subtle" color="gray" aria-label={words.removeField(name)} onClick={onRemove}>
          <IconX size={16} aria-hidden />
        </ActionIcon>
      ) : null}
    </Group>
  )
}

/** What a field finds in the sample, beside its path. */
function InSample({ value }: { value: unknown }) {
  if (value === undefined) {
    return (
      <Text size="xs" c="dimmed">
        {words.notInSample}
      </Text>
    )
  }
  const shown = typeof value === 'string' ? value : JSON.stringify(value)
  return (
    <Text size="xs" c="dimmed" truncate>
      <Foreign max={120}>{words.inSample(shown)}</Foreign>
    </Text>
  )
}

function Conditions({ draft, setDraft, selected, onSelect, isReadOnly }: FieldsProps) {
  const { conditions } = draft
  const set = (changed: ConditionRow[]) => setDraft((before) => ({ ...before, conditions: changed }))
  const change = (id: string, changes: Partial<ConditionRow>) =>
    set(conditions.map((each) => (each.id === id ? { ...each, ...changes } : each)))
  return (
    <Card component="section" aria-label={words.conditions}>
      <Title order={2} size="h5">
        {words.conditions}
      </Title>
      <Text size="xs" c="dimmed" mb="sm">
        {words.conditionsExplanation}
      </Text>
      <Stack gap="sm">
        {conditions.map(({ id, path, values }, index) => (
          <Group key={id} gap="xs" align="flex-end" wrap="nowrap">
            <Stack gap={4} flex={1} miw={0}>
              <TextInput
                size="xs"
                aria-label={words.conditionPath(index + 1)}
                placeholder={words.pathPlaceholder}
                readOnly={isReadOnly}
                {...upTo(500)}
                value={path}
                styles={id === selected ? { input: { borderColor: 'var(--mantine-primary-color-filled)' } } : {}}
                onFocus={() => onSelect(id)}
                onChange={(event) => change(id, { path: event.currentTarget.value })}
              />
              <TextInput
                size="xs"
                aria-label={words.conditionValues(index + 1)}
                placeholder={words.conditionValuesPlaceholder}
                readOnly={isReadOnly}
                value={values}
                onChange={(event) => change(id, { values: event.currentTarget.value })}
              />
            </Stack>
            {isReadOnly ? null : (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={words.removeCondition(index + 1)}
                onClick={() => set(conditions.filter((each) => each.id !== id))}
              >
                <IconX size={16} aria-hidden />
              </ActionIcon>
            )}
          </Group>
        ))}
        {isReadOnly ? null : (
          <Button
            variant="subtle"
            size="compact-sm"
            style={{ alignSelf: 'flex-start' }}
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => {
              const condition = newCondition()
              set([...conditions, condition])
              onSelect(condition.id)
            }}
          >
            {words.addCondition}
          </Button>
        )}
      </Stack>
    </Card>
  )
}
