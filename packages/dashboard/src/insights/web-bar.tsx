import { Button, Drawer, Group, NativeSelect, Switch, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { queryOf } from '../api/operation.ts'
import { useFields } from '../filters/fields.ts'
import { Form } from '../ui/form.tsx'
import { ErrorState } from '../ui/states.tsx'
import { sharedDraft, sharedQuestion } from './draft.ts'
import { OnlineNow } from './online-now.tsx'
import { RangeField } from './range-field.tsx'
import { EventFields, FormStatus } from './shared-fields.tsx'
import { text as shared } from './text.ts'
import { ActiveFilters } from './web-pills.tsx'
import { conditionsOf, siteOf, type WebChanges, type WebQuestion, withSite } from './web-question.ts'
import { text } from './web-text.ts'

const words = text.filters

interface WebBarProps {
  question: WebQuestion
  onChange: (changes: WebChanges) => void
}

/** Above the figures: who is there now, the site, the range, and the filters as pills. */
export function WebBar({ question, isTooLong, onChange }: WebBarProps & { isTooLong: boolean }) {
  const [isOpen, { open, close }] = useDisclosure()
  const button = useRef<HTMLButtonElement>(null)
  const { range, compare } = sharedDraft(question)
  return (
    <search aria-label={words.title}>
      <Group gap="xs" mb="sm">
        <OnlineNow question={question} />
        <Group gap="xs" ml="auto">
          <SiteField question={question} onChange={onChange} />
          <Button
            ref={button}
            variant="default"
            leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
            aria-haspopup="dialog"
            onClick={open}
          >
            {words.add}
          </Button>
          <RangeField
            range={range}
            // An interval that fits a week may be too short for a year.
            onChange={(chosen) => onChange({ ...NO_RANGE, ...chosen })}
          />
          <Switch
            label={text.compare}
            aria-label={text.compareLabel}
            checked={compare !== undefined}
            onChange={(event) => onChange({ compare: event.currentTarget.checked ? 'previous_period' : undefined })}
          />
        </Group>
      </Group>
      <ActiveFilters
        question={question}
        onChange={(changes) => {
          // The pill that removed a filter disappears with it; the focus stays nearby.
          button.current?.focus()
          onChange(changes)
        }}
      />
      <Text size="sm" c="dimmed" role="status">
        {isTooLong ? shared.tooLong : ''}
      </Text>
      <Drawer opened={isOpen} onClose={close} position="right" size="lg" title={words.title}>
        <FilterForm
          question={question}
          onChange={(changes) => {
            onChange(changes)
            close()
          }}
        />
      </Drawer>
    </search>
  )
}

const NO_RANGE = { date_from: undefined, date_to: undefined, last: undefined, interval: undefined }

/** Only the pages of one site, if there are several. */
function SiteField({ question, onChange }: WebBarProps) {
  const { data, error, refetch } = useQuery(queryOf('getEventStats', { group_by: 'domain', event_type: 'page_view' }))
  const conditions = conditionsOf(question)
  const site = siteOf(conditions)
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  const seen = data?.stats.by_domain?.map(({ domain }) => domain).filter((host) => host !== '') ?? []
  const hosts = site === undefined || seen.includes(site) ? seen : [site, ...seen]
  if (hosts.length < 2 && site === undefined) return null
  return (
    <NativeSelect
      aria-label={text.site}
      data={[{ value: '', label: text.allSites }, ...hosts]}
      value={site ?? ''}
      maw={200}
      onChange={({ currentTarget: { value } }) => onChange(withSite(conditions, value === '' ? undefined : value))}
    />
  )
}

/** Which events count, beyond what rows can say. */
function FilterForm({ question, onChange }: WebBarProps) {
  const { types } = useFields('events')
  const [draft, setDraft] = useState(() => sharedDraft(question))
  const apply = () => {
    const { where, people, include_bots } = sharedQuestion(draft, types)
    onChange({ where, people, include_bots })
  }
  return (
    <Form onSubmit={apply}>
      <EventFields draft={draft} onChange={(changes) => setDraft({ ...draft, ...changes })} />
      <FormStatus draft={draft} meant={[]} isTooLong={false} />
      <Button type="submit" style={{ alignSelf: 'flex-start' }}>
        {words.apply}
      </Button>
    </Form>
  )
}
