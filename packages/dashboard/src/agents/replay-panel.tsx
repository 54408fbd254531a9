import { Alert, Badge, Button, Card, Group, NumberInput, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconArrowsDiff } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import type { ReplayedContact, TriedEvaluation } from '../api/types.ts'
import { AnchorLink } from '../ui/link.tsx'
import { messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { ActionContent } from './action-content.tsx'
import { personName } from './action-words.ts'
import { Section } from './agent-sections.tsx'
import { ActionBadge } from './contact-card.tsx'
import { formatCost } from './run-state.tsx'
import { text as texts } from './text.ts'
import type { AgentFields } from './use-agent-fields.ts'

const text = texts.replay
const CONTACTS = { default: 5, max: 20 }
const COLORS = {
  same: 'gray',
  bothSilent: 'gray',
  different: 'orange',
  onlyCurrent: 'red',
  onlyProposed: 'teal',
} as const

/** Compares the instructions in a form with the saved ones on contacts that the agent has evaluated. */
export function ReplayPanel({ agentId, fields: { input } }: { agentId: string; fields: AgentFields }) {
  const [contacts, setContacts] = useState<number | string>(CONTACTS.default)
  const { playbook = {}, playbook_template: template = null } = input
  const sent = { agent_id: agentId, playbook, playbook_template: template, limit: Number(contacts) || CONTACTS.default }
  const trying = useMutation({
    // It stores nothing, so nothing is read again.
    mutationFn: (asked: typeof sent) => call('replayAgent', asked),
  })
  const isOutdated = trying.variables !== undefined && said(trying.variables) !== said(sent)
  const { data } = trying
  const different = data?.items.filter((item) => !['same', 'bothSilent'].includes(differenceOf(item) ?? 'same')) ?? []
  return (
    <Section title={text.title} description={text.description}>
      <Group align="flex-end">
        <NumberInput
          label={text.contacts}
          min={1}
          max={CONTACTS.max}
          allowDecimal={false}
          w={120}
          value={contacts}
          onChange={setContacts}
        />
        <Button
          variant="light"
          leftSection={<IconArrowsDiff size={16} aria-hidden />}
          loading={trying.isPending}
          onClick={() => trying.mutate(sent)}
        >
          {data ? text.again : text.start}
        </Button>
      </Group>
      {trying.isError ? (
        <Alert color="red" role="alert" title={text.failed}>
          {messageOf(trying.error)}
        </Alert>
      ) : null}
      {data ? (
        <Stack gap="sm">
          <Text size="sm" role="status">
            {isOutdated
              ? text.outdated
              : data.items.length === 0
                ? text.none
                : text.result(data.items.length, different.length, formatCost(data.usage.cost_usd))}
          </Text>
          {data.notices.length > 0 && data.items.length > 0 ? (
            <Alert color="ink" variant="light" role="note">
              {data.notices.map((notice) => (
                <Text key={notice} size="sm">
                  <Foreign max={1_000}>{notice}</Foreign>
                </Text>
              ))}
            </Alert>
          ) : null}
          {data.items.map((item) => (
            <Comparison key={item.contact_id} item={item} version={data.playbook_version} />
          ))}
        </Stack>
      ) : null}
    </Section>
  )
}

function said({ playbook, playbook_template }: { playbook: object; playbook_template: string | null }): string {
  return JSON.stringify([playbook, playbook_template])
}

function Comparison({ item, version }: { item: ReplayedContact; version: number }) {
  const { contact, contact_id: contactId, current, proposed } = item
  const difference = differenceOf(item)
  return (
    <Card withBorder component="article" aria-label={personName(contact)}>
      <Group justify="space-between" gap="sm" mb="sm">
        <Text fw={600} component="h3">
          <AnchorLink inherit to="/contacts/$contactId" params={{ contactId }}>
            <Foreign max={80}>{personName(contact)}</Foreign>
          </AnchorLink>
        </Text>
        <Badge color={difference === null ? 'red' : COLORS[difference]}>
          {difference === null ? text.failure : text[difference]}
        </Badge>
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
        <Side title={text.current(version)} tried={current} />
        <Side title={text.proposed} tried={proposed} />
      </SimpleGrid>
    </Card>
  )
}

function Side({ title, tried }: { title: string; tried: TriedEvaluation }) {
  const { error, reasoning, proposed_actions: actions } = tried
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Text size="xs" c="dimmed" component="h4" m={0}>
        {title}
      </Text>
      {error === null ? null : (
        <Text size="sm" c="red">
          <Foreign max={1_000}>{error}</Foreign>
        </Text>
      )}
      {reasoning === null ? null : (
        <Text size="sm">
          <Foreign max={4_000}>{reasoning}</Foreign>
        </Text>
      )}
      {actions.length === 0 ? (
        <Text size="sm" c="dimmed">
          {texts.run.noActions}
        </Text>
      ) : null}
      {actions.map((action, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a result never changes
        <div key={index}>
          <Group gap={6} mb={6}>
            <ActionBadge type={action.type} />
            {action.status === 'rejected' ? <Badge color="gray">{texts.dryRun.states.rejected}</Badge> : null}
          </Group>
          <ActionContent action={action} />
        </div>
      ))}
    </Stack>
  )
}

/** How the proposals of two playbooks for a contact differ; null if one of them was not evaluated. */
function differenceOf({ current, proposed }: ReplayedContact): keyof typeof COLORS | null {
  if (current.status !== 'evaluated' || proposed.status !== 'evaluated') return null
  const [old, fresh] = [current, proposed].map((side) =>
    side.proposed_actions.map(({ type, params }) => JSON.stringify([type, params])).sort(),
  )
  if (!old?.length || !fresh?.length) {
    if (old?.length) return 'onlyCurrent'
    return fresh?.length ? 'onlyProposed' : 'bothSilent'
  }
  return JSON.stringify(old) === JSON.stringify(fresh) ? 'same' : 'different'
}
