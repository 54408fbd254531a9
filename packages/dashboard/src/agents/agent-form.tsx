import { Alert, Button, Group, Stack } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useOperation } from '../api/operation.ts'
import type { Agent, Playbooks } from '../api/types.ts'
import { Form } from '../ui/form.tsx'
import { messageOf } from '../ui/states.tsx'
import type { AgentDraft } from './agent-draft.ts'
import {
  AllowedSection,
  AudienceSection,
  GoalSection,
  InstructionsSection,
  ScheduleSection,
  TemplateSection,
} from './agent-sections.tsx'
import { DryRunPanel } from './dry-run-panel.tsx'
import { ReplayPanel } from './replay-panel.tsx'
import { text } from './text.ts'
import { useAgentFields } from './use-agent-fields.ts'

interface AgentFormProps {
  initial: AgentDraft
  agent: Agent
  playbooks: Playbooks
}

/** The form for an existing agent, on one page. */
export function AgentForm({ initial, agent, playbooks }: AgentFormProps) {
  const navigate = useNavigate()
  const { agent_id: agentId, monitoring } = agent
  const { filter } = monitoring
  const fields = useAgentFields(initial, playbooks, filter && !('segment_id' in filter) ? filter : undefined)
  const saving = useOperation('updateAgent', {
    onDone: () => navigate({ to: '/agents/$agentId', params: { agentId } }),
  })
  return (
    <Stack gap="md" maw={860}>
      <Form id="agent" onSubmit={() => saving.mutate({ agent_id: agentId, ...fields.input })}>
        <TemplateSection fields={fields} />
        <AudienceSection fields={fields} />
        <InstructionsSection fields={fields} />
        <AllowedSection fields={fields} />
        <ScheduleSection fields={fields} />
        <GoalSection fields={fields} />
      </Form>
      <ReplayPanel agentId={agentId} fields={fields} />
      <DryRunPanel fields={fields} />
      {saving.isError ? (
        <Alert color="red" role="alert" title={text.form.notSaved}>
          {messageOf(saving.error)}
        </Alert>
      ) : null}
      <Group gap="xs">
        <Button
          type="submit"
          form="agent"
          loading={saving.isPending}
          disabled={!fields.hasName || !fields.hasAudience || !fields.hasTriggers || !fields.hasGoal}
        >
          {text.form.save}
        </Button>
        <Button variant="default" onClick={() => navigate({ to: '/agents/$agentId', params: { agentId } })}>
          {text.form.cancel}
        </Button>
      </Group>
    </Stack>
  )
}
