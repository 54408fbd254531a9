import {
  Alert,
  Button,
  Card,
  Checkbox,
  Group,
  NumberInput,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import { type Agent, type AgentInput, type Playbooks, refreshAgents } from '../api/agents.ts'
import { propertiesQuery } from '../api/properties.ts'
import { countUnfinished, type Draft, draftOf, filterOf, newGroup, newProperty, replaceIn } from '../segments/draft.ts'
import { messageOf } from '../ui/states.tsx'
import { upTo } from '../ui/up-to.ts'
import { ACTION_WORDS } from './action-words.ts'
import { type AgentDraft, inputOf, templateFields } from './agent-draft.ts'
import { AudienceFields } from './audience-fields.tsx'
import { IdentityField } from './identity-field.tsx'
import { ModelFields } from './model-fields.tsx'
import { PlaybookFields } from './playbook-fields.tsx'
import { ScheduleFields } from './schedule-fields.tsx'
import { TemplateChoice } from './template-choice.tsx'

const CAPABILITY_WORDS: Record<string, string> = {
  email: 'Write e-mails',
  social: 'Send messages on the social network',
  linkedin: 'Send messages on LinkedIn',
  notes: 'Write notes',
  crm_sync: 'Update contact properties',
}
const OUTREACH = ['email', 'social', 'linkedin']

interface AgentFormProps {
  initial: AgentDraft
  /** The agent to edit; absent for a new one. */
  agent?: Agent
  playbooks: Playbooks
  submitLabel: string
  save: (input: AgentInput & { name: string }) => Promise<{ agent: Agent }>
}

/** The form for an agent: instructions, allowed actions, audience, schedule and model. */
export function AgentForm({ initial, agent, playbooks, submitLabel, save }: AgentFormProps) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [draft, setDraft] = useState(initial)
  const change = (changes: Partial<AgentDraft>) => setDraft((before) => ({ ...before, ...changes }))
  const stored = agent?.monitoring.filter
  const [filterDraft, setFilterDraft] = useState(() =>
    stored !== undefined && !('segment_id' in stored) ? draftOf(stored) : newGroup('all', [newProperty()]),
  )
  const { data: properties } = useQuery(propertiesQuery('contacts'))
  const types = new Map(properties?.properties.map(({ name, type }) => [name, type]))
  const filter = filterOf(filterDraft, types)
  const unfinished = countUnfinished(filterDraft)
  const replace = (id: string, changed: Draft | null) =>
    setFilterDraft((before) => {
      if (id !== before.id) return replaceIn(before, id, changed)
      return changed?.kind === 'group' ? changed : before
    })
  const saving = useMutation({
    mutationFn: save,
    onSuccess: async ({ agent: saved }) => {
      await refreshAgents(queryClient)
      await navigate({ to: '/agents/$agentId', params: { agentId: saved.agent_id } })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate(inputOf(draft, filter, playbooks))
  }
  const chooseTemplate = (name: string | null) => {
    const template = playbooks.templates.find((each) => each.name === name)
    const former = playbooks.templates.find((each) => each.name === draft.template)
    const isNamed = draft.name.trim() !== '' && draft.name !== former?.title
    change({ ...templateFields(template), ...(isNamed ? {} : { name: template?.title ?? '' }) })
  }
  const reachesOut = draft.capabilities.some((name) => OUTREACH.includes(name))
  const isUnfinished = draft.audience === 'filter' ? unfinished > 0 : draft.audience === 'segment' && !draft.segmentId
  return (
    <Stack component="form" gap="md" onSubmit={submit} maw={860}>
      <Section title="Template" description="A starting point; you can change everything.">
        <TemplateChoice templates={playbooks.templates} value={draft.template} onChange={chooseTemplate} />
      </Section>
      <Section title="Name">
        <TextInput
          label="Name"
          required
          {...upTo(200)}
          value={draft.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
        <Textarea
          label="Description"
          autosize
          minRows={1}
          maxRows={6}
          {...upTo(5_000)}
          value={draft.description}
          onChange={(event) => change({ description: event.currentTarget.value })}
        />
      </Section>
      <Section title="Instructions">
        <PlaybookFields draft={draft} playbooks={playbooks} onChange={change} />
      </Section>
      <Section title="Allowed actions">
        <Checkbox.Group
          label="Capabilities"
          value={draft.capabilities}
          onChange={(capabilities) => change({ capabilities })}
        >
          <Stack gap={8} mt={4}>
            {playbooks.capabilities.map(({ name, types: allowed }) => (
              <Checkbox
                key={name}
                value={name}
                label={CAPABILITY_WORDS[name] ?? name}
                description={allowed.map((type) => ACTION_WORDS[type].label).join(', ')}
              />
            ))}
          </Stack>
        </Checkbox.Group>
        <IdentityField identityId={draft.identityId} onChange={(identityId) => change({ identityId })} />
        {reachesOut && draft.identityId === '' ? (
          <Alert color="orange" variant="light" role="note">
            Without an identity, its e-mails and messages cannot be sent.
          </Alert>
        ) : null}
        <Switch
          label="Require approval for every e-mail and message"
          description="If off, they are sent automatically within the rules for all agents."
          checked={draft.requiresApproval}
          onChange={(event) => change({ requiresApproval: event.currentTarget.checked })}
        />
      </Section>
      <Section title="Audience">
        <AudienceFields
          draft={draft}
          onChange={change}
          filterDraft={filterDraft}
          filter={filter}
          unfinished={unfinished}
          onReplace={replace}
        />
      </Section>
      <Section title="When it runs" description="A schedule runs while the agent is enabled.">
        <ScheduleFields cron={draft.cron} timeZone={draft.timeZone} onChange={change} />
        <Group grow align="flex-start">
          <NumberInput
            label="Maximum contacts per run"
            min={playbooks.max_contacts.min}
            max={playbooks.max_contacts.max}
            allowDecimal={false}
            value={draft.maxContacts}
            onChange={(maxContacts) => change({ maxContacts })}
          />
          <NumberInput
            label="Maximum cost per run (US$)"
            min={0}
            max={100_000}
            decimalScale={2}
            value={draft.maxCost}
            onChange={(maxCost) => change({ maxCost })}
            placeholder="no cap"
          />
        </Group>
      </Section>
      <Section title="Model">
        <ModelFields draft={draft} playbooks={playbooks} onChange={change} />
      </Section>
      {saving.isError ? (
        <Alert color="red" role="alert" title="The agent was not saved">
          {messageOf(saving.error)}
        </Alert>
      ) : null}
      <Group gap="xs">
        <Button type="submit" loading={saving.isPending} disabled={draft.name.trim() === '' || isUnfinished}>
          {submitLabel}
        </Button>
        <Button
          variant="default"
          onClick={() =>
            agent
              ? navigate({ to: '/agents/$agentId', params: { agentId: agent.agent_id } })
              : navigate({ to: '/agents' })
          }
        >
          Cancel
        </Button>
      </Group>
    </Stack>
  )
}

function Section({ title, description, children }: { title: string; description?: string; children: ReactNode }) {
  return (
    <Card>
      <Title order={2} size="h5">
        {title}
      </Title>
      {description === undefined ? null : (
        <Text size="sm" c="dimmed">
          {description}
        </Text>
      )}
      <Stack gap="sm" mt="sm">
        {children}
      </Stack>
    </Card>
  )
}
