import { Alert, Badge, Box, Button, Group, Radio, Stack, Text } from '@mantine/core'
import { IconFlask } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import type { Contact, DryRun } from '../api/types.ts'
import { messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { ActionContent } from './action-content.tsx'
import { Section } from './agent-sections.tsx'
import { ActionBadge, ContactCard } from './contact-card.tsx'
import { ContactChoice } from './contact-choice.tsx'
import { GuardrailList } from './guardrail-list.tsx'
import { formatCost } from './run-state.tsx'
import { text } from './text.ts'
import type { AgentFields } from './use-agent-fields.ts'

const CONTACTS = 3
const COLORS = { pending_approval: 'orange', approved: 'teal', rejected: 'gray' } as const

/** Tries the settings of a form on three contacts. */
export function DryRunPanel({ fields }: { fields: AgentFields }) {
  const { draft, input } = fields
  const hasAudience = draft.audience !== 'nobody'
  const [wish, setWish] = useState<'audience' | 'chosen'>('audience')
  const whom = hasAudience ? wish : 'chosen'
  const [chosen, setChosen] = useState<Contact[]>([])
  const trying = useMutation({
    // It stores nothing, so nothing is read again.
    mutationFn: (sent: typeof input) => {
      const contacts = whom === 'audience' ? {} : { contact_ids: chosen.map(({ contact_id }) => contact_id) }
      return call('dryRunAgent', { ...sent, ...contacts })
    },
  })
  const isOutdated = trying.variables !== undefined && JSON.stringify(trying.variables) !== JSON.stringify(input)
  const isReady = fields.hasName && fields.hasAudience && (whom === 'audience' || chosen.length > 0)
  return (
    <Section title={text.dryRun.title} description={text.dryRun.description}>
      <Radio.Group
        label={text.dryRun.which}
        value={whom}
        onChange={(value) => setWish(value === 'chosen' ? 'chosen' : 'audience')}
      >
        <Stack gap={6} mt={4}>
          <Radio
            value="audience"
            disabled={!hasAudience}
            label={text.dryRun.ofAudience}
            description={hasAudience ? undefined : text.dryRun.noAudience}
          />
          <Radio value="chosen" label={text.dryRun.chosen} />
        </Stack>
      </Radio.Group>
      {whom === 'chosen' ? <ContactChoice chosen={chosen} most={CONTACTS} onChange={setChosen} /> : null}
      <div>
        <Button
          variant="light"
          leftSection={<IconFlask size={16} aria-hidden />}
          loading={trying.isPending}
          disabled={!isReady}
          onClick={() => trying.mutate(input)}
        >
          {trying.data ? text.dryRun.again : text.dryRun.start}
        </Button>
      </div>
      {trying.isError ? (
        <Alert color="red" role="alert" title={text.dryRun.failed}>
          {messageOf(trying.error)}
        </Alert>
      ) : null}
      {trying.data && isOutdated ? (
        <Text size="sm" c="dimmed" role="status">
          {text.dryRun.outdated}
        </Text>
      ) : null}
      {trying.data ? <Result result={trying.data.dry_run} /> : null}
    </Section>
  )
}

function Result({ result: { contacts, notices, provider, model, usage } }: { result: DryRun }) {
  return (
    <Stack gap="sm">
      <Text size="sm" role="status">
        {contacts.length === 0
          ? text.dryRun.empty
          : text.dryRun.result(
              contacts.length,
              provider === 'template' ? text.dryRun.template : (model ?? provider),
              formatCost(usage.cost_usd),
            )}
      </Text>
      {notices.length > 0 && contacts.length > 0 ? (
        <Alert color="ink" variant="light" role="note">
          {notices.map((notice) => (
            <Text key={notice} size="sm">
              <Foreign max={1_000}>{notice}</Foreign>
            </Text>
          ))}
        </Alert>
      ) : null}
      {contacts.map((contact) => (
        <ContactCard key={contact.contact_id} result={contact}>
          {contact.proposed_actions.map((action, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a result never changes
            <Box key={index}>
              <Group gap={6} mb={6}>
                <ActionBadge type={action.type} />
                <Badge color={COLORS[action.status]}>{text.dryRun.states[action.status]}</Badge>
              </Group>
              <ActionContent action={action} />
              <Box mt={6}>
                <GuardrailList guardrails={action.guardrails} identityId={action.identity_id} />
              </Box>
            </Box>
          ))}
        </ContactCard>
      ))}
    </Stack>
  )
}
