import { Badge, Button, Card, Group, Text, Title } from '@mantine/core'
import { useState } from 'react'
import type { AgentGoal, AgentOutcomes } from '../api/types.ts'
import { BarList } from '../ui/bar-list.tsx'
import { eventLabel } from '../ui/event-words.ts'
import { formatDay, formatNumber } from '../ui/format.ts'
import { Foreign } from '../ui/text.tsx'
import { text as texts } from './text.ts'
import { VersionText } from './version-text.tsx'

const text = texts.outcomes

interface VersionCardProps {
  agentId: string
  outcome: AgentOutcomes
  goal: AgentGoal | null
  windowDays: number
}

/** What became of the proposals of one version of an agent's playbook. */
export function VersionCard({ agentId, outcome, goal, windowDays }: VersionCardProps) {
  const { playbook_version: version, since, until, sent_recently: recent } = outcome
  const [isOpen, setOpen] = useState(false)
  const before = version === 1 ? null : version - 1
  return (
    <Card component="article" aria-label={text.version(version)}>
      <Group gap="xs" mb="xs">
        <Title order={2} size="h5">
          {text.version(version)}
        </Title>
        {until === null ? <Badge color="teal">{text.current}</Badge> : null}
        <Text size="sm" c="dimmed">
          {until === null ? text.since(formatDay(since)) : text.between(formatDay(since), formatDay(until))}
        </Text>
      </Group>
      {outcome.proposed === 0 ? (
        <Text size="sm" c="dimmed">
          {text.nothing}
        </Text>
      ) : (
        <BarList unit="" empty={text.nothing} rows={rowsOf(outcome, goal)} />
      )}
      {recent > 0 ? (
        <Text size="sm" c="dimmed" mt="xs">
          {text.open14(recent, windowDays)}
        </Text>
      ) : null}
      <Group mt="sm">
        <Button variant="subtle" size="compact-sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? text.hide : before === null ? text.showText : text.showChange(before)}
        </Button>
      </Group>
      {isOpen ? <VersionText agentId={agentId} version={version} before={before} /> : null}
    </Card>
  )
}

function rowsOf(outcome: AgentOutcomes, goal: AgentGoal | null) {
  const {
    proposed,
    waiting,
    approved,
    auto_approved: unasked,
    edited,
    failed,
    sent,
    replied,
    unsubscribed,
    rejected,
  } = outcome
  const { stopped_by_guardrails: stopped, goal_reached: reached } = outcome
  const ofSent = (value: number) => (value === 0 || sent === 0 ? [] : [text.ofSent(Math.round((value / sent) * 100))])
  const row = (label: string, value: number, notes: string[] = []) => ({
    key: label,
    label: <Foreign max={120}>{label}</Foreign>,
    value,
    figure: [formatNumber(value), ...notes].join(' · '),
  })
  const noted = (count: number, note: (count: number) => string) => (count === 0 ? [] : [note(count)])
  return [
    row(text.proposed, proposed, noted(waiting, text.waiting)),
    row(text.approved, approved, [
      ...noted(unasked, text.unasked),
      ...noted(edited, text.edited),
      ...noted(failed, text.failed),
    ]),
    row(text.sent, sent),
    row(text.replied, replied, ofSent(replied)),
    ...(goal === null ? [] : [row(text.goalReached(eventLabel(goal.event)), reached ?? 0, ofSent(reached ?? 0))]),
    row(text.unsubscribed, unsubscribed, ofSent(unsubscribed)),
    row(text.rejected, rejected, noted(stopped, text.stopped)),
  ]
}
