import { Autocomplete, NativeSelect, TextInput } from '@mantine/core'
import { TIME_ZONES } from '../session/time-zone.ts'
import { upTo } from '../ui/up-to.ts'
import { text } from './warehouse-text.ts'

const { scheduleFields: words } = text

interface Schedule {
  schedule: string | null
  time_zone: string
}

type Kind = keyof typeof words.kinds

/** When a destination exports. */
export function ScheduleFields({ value, onChange }: { value: Schedule; onChange: (value: Schedule) => void }) {
  const { schedule } = value
  const kind: Kind = schedule === null ? 'none' : schedule === 'hourly' || schedule === 'daily' ? schedule : 'cron'
  const choose = (chosen: string) => {
    const next = chosen === 'none' ? null : chosen === 'cron' ? '0 6 * * *' : chosen
    onChange({ ...value, schedule: next })
  }
  return (
    <>
      <NativeSelect
        label={words.label}
        value={kind}
        onChange={(event) => choose(event.currentTarget.value)}
        data={Object.entries(words.kinds).map(([each, label]) => ({ value: each, label }))}
      />
      {kind === 'cron' ? (
        <TextInput
          label={words.cron}
          description={words.cronDescription}
          placeholder={words.cronPlaceholder}
          required
          value={schedule ?? ''}
          onChange={(event) => onChange({ ...value, schedule: event.currentTarget.value })}
          {...upTo(100)}
        />
      ) : null}
      {kind === 'cron' || kind === 'daily' ? (
        <Autocomplete
          label={words.timeZone}
          required
          value={value.time_zone}
          onChange={(zone) => onChange({ ...value, time_zone: zone })}
          data={[...TIME_ZONES]}
          limit={20}
        />
      ) : null}
    </>
  )
}
