import { ActionIcon, Button, Group, NumberInput, Paper, Stack, Text } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { replaceIn } from '../filters/draft.ts'
import { FilterOf } from '../filters/filter-context.tsx'
import { WhereFields } from '../filters/where-fields.tsx'
import { EventField } from '../ui/event-field.tsx'
import type { AgentDraft } from './agent-draft.ts'
import { ScoreSelect } from './score-select.tsx'
import { SegmentSelect } from './segment-select.tsx'
import { text } from './text.ts'
import { type EventDraft, newTrigger, type TriggerDraft } from './trigger-draft.ts'

const TRIGGERS_MAX = 20
const COOLDOWN_HOURS_MAX = 720

interface TriggerFieldsProps {
  draft: Pick<AgentDraft, 'triggers' | 'cooldownHours'>
  onChange: (changes: Partial<AgentDraft>) => void
}

/** The triggers of an agent: events, with conditions on them, entries into segments, and scores that rise. */
export function TriggerFields({ draft: { triggers, cooldownHours }, onChange }: TriggerFieldsProps) {
  const replace = (changed: TriggerDraft) =>
    onChange({ triggers: triggers.map((each) => (each.id === changed.id ? changed : each)) })
  const add = (kind: TriggerDraft['kind']) => onChange({ triggers: [...triggers, newTrigger(kind)] })
  return (
    <Stack gap="sm">
      {triggers.map((trigger, index) => (
        <Paper key={trigger.id} withBorder p="sm" role="group" aria-label={text.triggers.number(index + 1)}>
          <Group gap="xs" align="flex-start" wrap="nowrap">
            <Stack gap="xs" flex={1} miw={0}>
              <Fields trigger={trigger} onChange={replace} />
            </Stack>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={text.triggers.remove(index + 1)}
              onClick={() => onChange({ triggers: triggers.filter(({ id }) => id !== trigger.id) })}
            >
              <IconX size={16} aria-hidden />
            </ActionIcon>
          </Group>
        </Paper>
      ))}
      {triggers.length < TRIGGERS_MAX ? (
        <Group gap="xs">
          {(['event', 'segment', 'score'] as const).map((kind) => (
            <Button
              key={kind}
              variant="light"
              size="xs"
              leftSection={<IconPlus size={14} aria-hidden />}
              onClick={() => add(kind)}
            >
              {text.triggers.add[kind]}
            </Button>
          ))}
        </Group>
      ) : null}
      {triggers.length === 0 ? null : (
        <NumberInput
          label={text.triggers.cooldown}
          description={text.triggers.cooldownHint}
          min={1}
          max={COOLDOWN_HOURS_MAX}
          allowDecimal={false}
          maw={320}
          value={cooldownHours}
          onChange={(hours) => onChange({ cooldownHours: hours })}
        />
      )}
    </Stack>
  )
}

function Fields({ trigger, onChange }: { trigger: TriggerDraft; onChange: (changed: TriggerDraft) => void }) {
  if (trigger.kind === 'segment') {
    return (
      <SegmentSelect
        label={text.triggers.segment}
        value={trigger.segmentId}
        onChange={(segmentId) => onChange({ ...trigger, segmentId })}
      />
    )
  }
  if (trigger.kind === 'score') {
    const { score, gte } = trigger
    return (
      <>
        <ScoreSelect value={score} onChange={(chosen) => onChange({ ...trigger, score: chosen })} />
        <NumberInput
          label={text.triggers.gte}
          required
          maw={240}
          value={gte}
          onChange={(typed) => onChange({ ...trigger, gte: String(typed) })}
        />
      </>
    )
  }
  return <EventFields label={text.triggers.event} required draft={trigger} onChange={onChange} />
}

interface EventFieldsProps {
  label: string
  description?: string
  required?: boolean
  draft: EventDraft
  onChange: (changed: EventDraft) => void
}

/** An event with conditions on it. */
export function EventFields({ draft, onChange, required = false, ...field }: EventFieldsProps) {
  const { event, where } = draft
  return (
    <>
      <EventField
        {...field}
        required={required}
        clearable={!required}
        value={event}
        onChange={(changed) => onChange({ ...draft, event: changed })}
      />
      {event === '' ? (
        <Text size="sm" c="dimmed">
          {text.triggers.chooseEvent}
        </Text>
      ) : (
        <FilterOf filtered="events-of-contact" event={event}>
          <WhereFields
            group={where}
            level={1}
            onReplace={(id, changed) => onChange({ ...draft, where: replaceIn(where, id, changed) })}
          />
        </FilterOf>
      )}
    </>
  )
}
