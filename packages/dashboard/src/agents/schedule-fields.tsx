import { Alert, Autocomplete, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf } from '../api/operation.ts'
import { TIME_ZONES } from '../session/time-zone.ts'
import { messageOf } from '../ui/states.tsx'
import { ScheduleWords, useScheduleZone } from './schedule-words.tsx'
import { text } from './text.ts'

const PRESETS = [
  { value: '', label: text.schedule.presets.manual },
  { value: '0 9 * * 1-5', label: text.schedule.presets.weekdays },
  { value: '0 9 * * *', label: text.schedule.presets.daily },
  { value: '0 9,15 * * 1-5', label: text.schedule.presets.twice },
  { value: '0 * * * *', label: text.schedule.presets.hourly },
  { value: '0 9 * * 1', label: text.schedule.presets.mondays },
]
const OWN = 'own'

interface ScheduleFieldsProps {
  cron: string
  timeZone: string
  onChange: (changes: { cron?: string; timeZone?: string }) => void
}

/** The schedule of an agent: a preset or a cron expression, and its next times. */
export function ScheduleFields({ cron, timeZone, onChange }: ScheduleFieldsProps) {
  const [isOwn, setOwn] = useState(() => PRESETS.every(({ value }) => value !== cron))
  const [debounced] = useDebouncedValue(cron.trim(), 300)
  return (
    <Stack gap="sm">
      <NativeSelect
        label={text.schedule.when}
        value={isOwn ? OWN : cron}
        onChange={({ currentTarget: { value } }) => {
          setOwn(value === OWN)
          onChange({ cron: value === OWN ? cron || '0 9 * * 1-5' : value })
        }}
        data={[...PRESETS, { value: OWN, label: text.schedule.presets.other }]}
      />
      {isOwn ? (
        <TextInput
          label={text.schedule.cron}
          description={text.schedule.cronHint}
          required
          maxLength={100}
          value={cron}
          onChange={(event) => onChange({ cron: event.currentTarget.value })}
          ff="monospace"
          spellCheck={false}
        />
      ) : null}
      {cron === '' ? null : (
        <>
          <Autocomplete
            label={text.schedule.zone}
            description={text.schedule.zoneHint}
            value={timeZone}
            onChange={(value) => onChange({ timeZone: value })}
            data={[...TIME_ZONES]}
            limit={30}
            maxLength={64}
          />
          {debounced === '' ? null : <NextTimes cron={debounced} timeZone={timeZone.trim()} />}
        </>
      )}
    </Stack>
  )
}

function NextTimes({ cron, timeZone }: { cron: string; timeZone: string }) {
  const [own] = useDebouncedValue(timeZone, 300)
  const zone = useScheduleZone(own)
  const { data, error } = useQuery({
    ...queryOf('listScheduleTimes', { cron, time_zone: zone ?? 'UTC' }),
    // The times of another schedule would be wrong.
    placeholderData: undefined,
    retry: false,
    enabled: zone !== undefined,
  })
  if (error) {
    return (
      <Alert color="red" role="alert">
        {messageOf(error)}
      </Alert>
    )
  }
  return (
    <div aria-live="polite">
      <Text size="sm" fw={550}>
        <ScheduleWords cron={cron} timeZone={timeZone || undefined} />
      </Text>
      {/* The line keeps its place while the times load, so that nothing moves under the pointer. */}
      <Text size="sm" c="dimmed">
        {data && zone ? text.schedule.next(data.times.slice(0, 3).map(momentIn(zone))) : '\u00a0'}
      </Text>
    </div>
  )
}

function momentIn(timeZone: string) {
  const format = new Intl.DateTimeFormat(undefined, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZone,
  })
  return (at: string) => format.format(new Date(at))
}
