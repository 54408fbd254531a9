import { ActionIcon, Button, Group, NativeSelect, Paper, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { Form } from '../ui/form.tsx'
import { upTo } from '../ui/up-to.ts'
import { missingInTrend, needsProperty, newSeries, type SeriesDraft, type TrendDraft } from './draft.ts'
import { EventPropertyField } from './event-property-field.tsx'
import { MeantFields } from './meant-fields.tsx'
import { INTERVALS, letterOf } from './question.ts'
import { RangeField } from './range-field.tsx'
import { FieldGroup, FormStatus, SharedFields } from './shared-fields.tsx'
import { text } from './text.ts'

const words = text.trend
/** The service's limits. */
const SERIES_MAX = 10
const BREAKDOWNS_MAX = 2
const FORMULA_LENGTH_MAX = 200

interface TrendFieldsProps {
  draft: TrendDraft
  isTooLong: boolean
  onChange: (changes: Partial<TrendDraft>) => void
}

/** The question of a trend, from what is counted to how it is shown. */
export function TrendFields({ draft, isTooLong, onChange }: TrendFieldsProps) {
  const { series, formula, interval, range } = draft
  return (
    <Stack gap="md">
      <SeriesList series={series} onChange={(changed) => onChange({ series: changed })} />
      {series.length > 1 || formula !== '' ? (
        <FormulaField key={formula} formula={formula} onChange={(changed) => onChange({ formula: changed })} />
      ) : null}
      <Breakdown draft={draft} onChange={(breakdown) => onChange({ breakdown })} />
      <Group gap="xs" align="flex-end">
        <RangeField
          range={range}
          onChange={(changed) => onChange({ range: changed, interval: intervalFor(changed, interval) })}
        />
        <NativeSelect
          aria-label={words.interval}
          value={interval}
          onChange={({ currentTarget: { value } }) =>
            onChange({ interval: INTERVALS.find((each) => each === value) ?? interval })
          }
          data={INTERVALS.map((each) => ({ value: each, label: words.intervals[each] }))}
        />
      </Group>
      <SharedFields draft={draft} onChange={onChange} />
      <FormStatus draft={draft} meant={series} missing={missingInTrend(draft)} isTooLong={isTooLong} />
    </Stack>
  )
}

/** An interval that suits a range of whole units: a year is read by month, and few days have no months. */
function intervalFor({ last }: TrendDraft['range'], interval: TrendDraft['interval']): TrendDraft['interval'] {
  if (last?.unit === 'month') return interval === 'week' ? interval : 'month'
  if (last?.unit !== 'day') return interval
  return (interval === 'hour' && last.value > 7) || (interval === 'month' && last.value < 60) ? 'day' : interval
}

interface SeriesListProps {
  series: readonly SeriesDraft[]
  onChange: (series: SeriesDraft[]) => void
}

function SeriesList({ series, onChange }: SeriesListProps) {
  const [added, setAdded] = useState('')
  const adder = useRef<HTMLButtonElement>(null)
  const add = () => {
    const created = newSeries()
    setAdded(created.id)
    onChange([...series, created])
  }
  // The button that removed a series disappears with it; the focus stays nearby.
  const remove = (id: string) => {
    adder.current?.focus()
    onChange(series.filter((each) => each.id !== id))
  }
  return (
    <Stack gap="xs" role="group" aria-label={words.series}>
      {series.map((each, index) => (
        <SeriesFields
          key={each.id}
          letter={letterOf(index)}
          draft={each}
          isNew={each.id === added}
          onChange={(changed) => onChange(series.map((other) => (other.id === each.id ? changed : other)))}
          onRemove={series.length > 1 ? () => remove(each.id) : undefined}
        />
      ))}
      {series.length < SERIES_MAX ? (
        <Button
          ref={adder}
          variant="light"
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          style={{ alignSelf: 'flex-start' }}
          onClick={add}
        >
          {words.add}
        </Button>
      ) : null}
    </Stack>
  )
}

interface SeriesFieldsProps {
  letter: string
  draft: SeriesDraft
  isNew: boolean
  onChange: (draft: SeriesDraft) => void
  onRemove: (() => void) | undefined
}

const METRICS = words.metrics.flatMap(({ items }) => items)

function SeriesFields({ letter, draft, isNew, onChange, onRemove }: SeriesFieldsProps) {
  const { event, metric, property } = draft
  return (
    <Paper p="sm" role="group" aria-label={words.nameOf(letter)}>
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <Text fw={650} size="sm" mt={7} aria-hidden>
          {letter}
        </Text>
        <Stack gap="xs" flex={1} miw={0}>
          <MeantFields name={words.nameOf(letter)} draft={draft} autoFocus={isNew} onChange={onChange} />
          <NativeSelect
            aria-label={words.metricOf(letter)}
            value={metric}
            onChange={({ currentTarget: { value } }) =>
              onChange({ ...draft, metric: METRICS.find((each) => each.value === value)?.value ?? metric })
            }
            data={words.metrics}
          />
          {needsProperty(metric) ? (
            <EventPropertyField
              label={words.propertyOf(letter)}
              event={event}
              isNumber
              autoFocus={property === ''}
              value={property}
              onChange={(changed) => onChange({ ...draft, property: changed })}
            />
          ) : null}
        </Stack>
        {onRemove ? (
          <ActionIcon variant="subtle" color="gray" mt={4} aria-label={words.remove(letter)} onClick={onRemove}>
            <IconX size={16} aria-hidden />
          </ActionIcon>
        ) : null}
      </Group>
    </Paper>
  )
}

/** It is asked for once it is complete: when the field is left, or with Enter. */
function FormulaField({ formula, onChange }: { formula: string; onChange: (formula: string) => void }) {
  const [typed, setTyped] = useState(formula)
  const apply = () => {
    if (typed.trim() !== formula) onChange(typed.trim())
  }
  return (
    <Form onSubmit={apply}>
      <TextInput
        label={words.formula}
        description={words.formulaHint}
        {...upTo(FORMULA_LENGTH_MAX)}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onBlur={apply}
      />
    </Form>
  )
}

interface BreakdownProps {
  draft: TrendDraft
  onChange: (breakdown: string[]) => void
}

function Breakdown({ draft: { breakdown, series }, onChange }: BreakdownProps) {
  const adder = useRef<HTMLButtonElement>(null)
  const [isAdding, setAdding] = useState(false)
  const [only, ...others] = series
  const shown = isAdding ? [...breakdown, ''] : breakdown
  const set = (at: number, property: string) => {
    setAdding(false)
    onChange(shown.map((name, index) => (index === at ? property : name)).filter((name) => name !== ''))
  }
  const remove = (at: number) => {
    adder.current?.focus()
    set(at, '')
  }
  return (
    <FieldGroup label={words.breakdown}>
      {shown.map((name, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place in the list is what a field is about
        <Group key={index} gap="xs" wrap="nowrap">
          <EventPropertyField
            label={words.breakdownAt(index + 1)}
            event={others.length === 0 ? (only?.event ?? '') : ''}
            value={name}
            autoFocus={name === ''}
            onChange={(property) => set(index, property)}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={words.removeBreakdown(index + 1)}
            onClick={() => remove(index)}
          >
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <Button
        ref={adder}
        variant="subtle"
        size="compact-sm"
        leftSection={<IconPlus size={14} aria-hidden />}
        style={{ alignSelf: 'flex-start' }}
        disabled={shown.length >= BREAKDOWNS_MAX}
        onClick={() => setAdding(true)}
      >
        {words.addBreakdown}
      </Button>
    </FieldGroup>
  )
}
