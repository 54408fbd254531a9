import { Group, NativeSelect, NumberInput, Stack } from '@mantine/core'
import { BreakdownFields } from './breakdown-fields.tsx'
import { newMeant } from './draft.ts'
import { COUNTED, type FunnelDraft, ORDERS, WINDOW_UNITS } from './funnel-question.ts'
import { MeantList } from './meant-list.tsx'
import { RangeField } from './range-field.tsx'
import { FieldGroup, FormStatus, SharedFields } from './shared-fields.tsx'
import { text } from './text.ts'

const words = text.funnel
/** The service's limits. */
const [STEPS_MIN, STEPS_MAX] = [2, 10]
const EXCLUDED_MAX = 10
const WINDOW_MAX = 10_000

interface FunnelFieldsProps {
  draft: FunnelDraft
  isTooLong: boolean
  onChange: (changes: Partial<FunnelDraft>) => void
}

/** The question of a funnel: its steps, and in which order and time they have to be done. */
export function FunnelFields({ draft, isTooLong, onChange }: FunnelFieldsProps) {
  const { steps, window, order, countBy, exclude, breakdown, range } = draft
  const number = (index: number) => String(index + 1)
  return (
    <Stack gap="md">
      <MeantList
        label={words.steps}
        drafts={steps}
        markOf={number}
        nameOf={(index) => words.step(number(index))}
        create={newMeant}
        min={STEPS_MIN}
        max={STEPS_MAX}
        words={words}
        onChange={(changed) => onChange({ steps: changed })}
      />
      <FieldGroup label={words.window}>
        <Group gap="xs" wrap="nowrap">
          <NumberInput
            aria-label={words.windowLength}
            min={1}
            max={WINDOW_MAX}
            clampBehavior="blur"
            allowDecimal={false}
            w={100}
            value={window.value}
            onChange={(value) => {
              const length = Number(value)
              if (length >= 1 && length <= WINDOW_MAX) onChange({ window: { ...window, value: length } })
            }}
          />
          <NativeSelect
            aria-label={words.windowUnit}
            value={window.unit}
            onChange={({ currentTarget: { value } }) => {
              const unit = WINDOW_UNITS.find((each) => each === value)
              if (unit) onChange({ window: { ...window, unit } })
            }}
            data={WINDOW_UNITS.map((each) => ({ value: each, label: words.units[each] }))}
          />
        </Group>
      </FieldGroup>
      <NativeSelect
        label={words.order}
        value={order}
        onChange={({ currentTarget: { value } }) => onChange({ order: ORDERS.find((each) => each === value) ?? order })}
        data={ORDERS.map((each) => ({ value: each, label: words.orders[each] }))}
      />
      <NativeSelect
        label={words.countBy}
        value={countBy}
        onChange={({ currentTarget: { value } }) =>
          onChange({ countBy: COUNTED.find((each) => each === value) ?? countBy })
        }
        data={COUNTED.map((each) => ({ value: each, label: words.counted[each] }))}
      />
      <FieldGroup label={words.excluded}>
        <MeantList
          label={words.excluded}
          drafts={exclude}
          markOf={number}
          nameOf={(index) => words.excludedAt(number(index))}
          create={newMeant}
          min={0}
          max={EXCLUDED_MAX}
          words={words.excludedWords}
          onChange={(changed) => onChange({ exclude: changed })}
        />
      </FieldGroup>
      <BreakdownFields
        breakdown={breakdown}
        meant={steps.slice(0, 1)}
        onChange={(changed) => onChange({ breakdown: changed })}
      />
      <RangeField range={range} onChange={(changed) => onChange({ range: changed })} />
      <SharedFields draft={draft} onChange={onChange} />
      <FormStatus draft={draft} meant={[...steps, ...exclude]} isTooLong={isTooLong} />
    </Stack>
  )
}
