import { Group, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Form } from '../ui/form.tsx'
import { upTo } from '../ui/up-to.ts'
import { BreakdownFields } from './breakdown-fields.tsx'
import { missingInTrend, needsProperty, newSeries, type SeriesDraft, type TrendDraft } from './draft.ts'
import { EventPropertyField } from './event-property-field.tsx'
import { MeantList } from './meant-list.tsx'
import { INTERVALS, letterOf } from './question.ts'
import { RangeField } from './range-field.tsx'
import { FormStatus, SharedFields } from './shared-fields.tsx'
import { text } from './text.ts'

const words = text.trend
/** The service's limits. */
const SERIES_MAX = 10
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
      <MeantList
        label={words.series}
        drafts={series}
        markOf={letterOf}
        nameOf={(index) => words.nameOf(letterOf(index))}
        create={newSeries}
        min={1}
        max={SERIES_MAX}
        words={words}
        onChange={(changed) => onChange({ series: changed })}
      >
        {(each, index, change) => <FigureFields letter={letterOf(index)} draft={each} onChange={change} />}
      </MeantList>
      {series.length > 1 || formula !== '' ? (
        <FormulaField key={formula} formula={formula} onChange={(changed) => onChange({ formula: changed })} />
      ) : null}
      <BreakdownFields breakdown={draft.breakdown} meant={series} onChange={(breakdown) => onChange({ breakdown })} />
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

const METRICS = words.metrics.flatMap(({ items }) => items)

interface FigureFieldsProps {
  letter: string
  draft: SeriesDraft
  onChange: (draft: SeriesDraft) => void
}

/** What is counted of the events of a series. */
function FigureFields({ letter, draft, onChange }: FigureFieldsProps) {
  const { event, metric, property } = draft
  return (
    <>
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
    </>
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
