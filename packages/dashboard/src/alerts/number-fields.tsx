import { NativeSelect, NumberInput, Stack, Switch, Text } from '@mantine/core'
import type { Report } from '../api/types.ts'
import { isFunnel } from '../insights/funnel-question.ts'
import { isTrend } from '../insights/question.ts'
import { isRetention } from '../insights/retention-question.ts'
import { meantName, seriesName } from '../insights/trend-rows.ts'
import type { AlertDraft } from './alert-draft.ts'
import { text } from './text.ts'

const words = text.form
/** The service's default. */
const INTERVALS_DEFAULT = 7

interface NumberFieldsProps {
  draft: AlertDraft
  report: Report
  onChange: (changes: Partial<AlertDraft>) => void
}

/** Which number of a report is watched. */
export function NumberFields({ draft, report: { kind, question }, onChange }: NumberFieldsProps) {
  if (kind === 'paths') return <Text size="sm">{words.noFollow}</Text>
  if (kind === 'trend' && isTrend(question)) {
    return (
      <Stack gap="sm">
        {question.formula === undefined && question.series.length > 1 ? (
          <NativeSelect
            label={words.series}
            value={draft.series}
            onChange={({ currentTarget }) => onChange({ series: currentTarget.value })}
            data={question.series.map((series, index) => {
              const value = String.fromCharCode('A'.charCodeAt(0) + index)
              return { value, label: words.seriesOf(value, seriesName(series).slice(0, 120)) }
            })}
          />
        ) : null}
        {draft.operator === 'above' ? (
          <Switch
            label={words.running}
            description={words.runningHint}
            checked={draft.running}
            onChange={(event) => onChange({ running: event.currentTarget.checked })}
          />
        ) : null}
      </Stack>
    )
  }
  if (kind === 'funnel' && isFunnel(question)) {
    return (
      <Stack gap="sm">
        <NativeSelect
          label={words.step}
          value={String(draft.step)}
          onChange={({ currentTarget }) => onChange({ step: Number(currentTarget.value) })}
          data={question.steps.map((step, index) => ({
            value: String(index + 1),
            label: words.stepOf(index + 1, (step.label ?? meantName(step)).slice(0, 120)),
          }))}
        />
        <NativeSelect
          label={words.figure}
          value={draft.figure}
          onChange={({ currentTarget: { value } }) =>
            onChange({ figure: words.figures.find((each) => each.value === value)?.value ?? draft.figure })
          }
          data={[...words.figures]}
        />
      </Stack>
    )
  }
  if (kind === 'retention' && isRetention(question)) {
    const { intervals = INTERVALS_DEFAULT } = question
    return (
      <NumberInput
        label={words.interval}
        min={1}
        max={intervals}
        clampBehavior="strict"
        allowDecimal={false}
        value={draft.interval}
        onChange={(value) => onChange({ interval: Math.max(1, Number(value)) })}
      />
    )
  }
  return <Text size="sm">{words.unknownQuestion}</Text>
}
