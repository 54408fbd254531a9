import { Alert, Button, Group, Stack, Stepper, Title } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Playbooks, SegmentFilter } from '../api/types.ts'
import { Form } from '../ui/form.tsx'
import { messageOf } from '../ui/states.tsx'
import type { AgentDraft } from './agent-draft.ts'
import { AgentFacts } from './agent-facts.tsx'
import {
  AllowedSection,
  AudienceSection,
  GoalSection,
  InstructionsSection,
  ScheduleSection,
  TemplateSection,
} from './agent-sections.tsx'
import { DryRunPanel } from './dry-run-panel.tsx'
import { text } from './text.ts'
import { useAgentFields } from './use-agent-fields.ts'

const STEPS = ['template', 'audience', 'instructions', 'schedule', 'review'] as const
const REVIEW = STEPS.length - 1

interface NewAgentStepsProps {
  initial: AgentDraft
  playbooks: Playbooks
  /** The filter that the audience begins with. */
  audience?: SegmentFilter | undefined
}

/** A new agent in steps. The last one shows all settings and tries them before the agent is created. */
export function NewAgentSteps({ initial, playbooks, audience }: NewAgentStepsProps) {
  const navigate = useNavigate()
  const fields = useAgentFields(initial, playbooks, audience)
  const [step, setStep] = useState(0)
  const [furthest, setFurthest] = useState(0)
  const heading = useRef<HTMLHeadingElement>(null)
  const isFirst = useRef(true)
  const creating = useOperation('createAgent', {
    onDone: ({ agent: { agent_id: agentId } }) => navigate({ to: '/agents/$agentId', params: { agentId } }),
  })
  // A step is a page of its own: it begins at its heading.
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each change of the step
  useEffect(() => {
    if (!isFirst.current) heading.current?.focus()
    isFirst.current = false
  }, [step])
  const isComplete =
    step === 0
      ? fields.hasName
      : step === 1
        ? fields.hasAudience
        : step === 3
          ? fields.hasTriggers && fields.hasGoal
          : true
  const isReady = fields.hasName && fields.hasAudience && fields.hasTriggers && fields.hasGoal
  const name = STEPS[step] ?? 'review'
  const go = (to: number) => {
    creating.reset()
    setStep(to)
    setFurthest(Math.max(furthest, to))
  }
  const buttons = (
    <Group gap="xs">
      {step === REVIEW ? (
        <Button loading={creating.isPending} disabled={!isReady} onClick={() => creating.mutate(fields.input)}>
          {text.form.create}
        </Button>
      ) : (
        <Button type="submit" disabled={!isComplete}>
          {text.form.next}
        </Button>
      )}
      <Button variant="default" onClick={() => (step === 0 ? navigate({ to: '/agents' }) : go(step - 1))}>
        {step === 0 ? text.form.cancel : text.form.back}
      </Button>
    </Group>
  )
  return (
    <Stack gap="md">
      <Stepper active={step} onStepClick={go} size="sm" iconSize={32} maw={1_100} visibleFrom="lg">
        {STEPS.map((each, index) => (
          <Stepper.Step
            key={each}
            label={text.form.steps[each]}
            allowStepSelect={index <= furthest && (isComplete || index < step)}
          />
        ))}
      </Stepper>
      <Title order={2} size="sm" fw={500} c="dimmed" tabIndex={-1} ref={heading} style={{ outline: 'none' }}>
        {text.form.step(step + 1, STEPS.length, text.form.steps[name])}
      </Title>
      {step === REVIEW ? (
        <Stack gap="md" maw={860}>
          <AgentFacts agent={fields.input} />
          <DryRunPanel fields={fields} />
          {creating.isError ? (
            <Alert color="red" role="alert" title={text.form.notSaved}>
              {messageOf(creating.error)}
            </Alert>
          ) : null}
          {buttons}
        </Stack>
      ) : (
        <Form maw={860} key={name} onSubmit={() => go(step + 1)}>
          {name === 'template' ? <TemplateSection fields={fields} /> : null}
          {name === 'audience' ? <AudienceSection fields={fields} /> : null}
          {name === 'instructions' ? <InstructionsSection fields={fields} /> : null}
          {name === 'schedule' ? (
            <>
              <ScheduleSection fields={fields} />
              <GoalSection fields={fields} />
              <AllowedSection fields={fields} />
            </>
          ) : null}
          {buttons}
        </Form>
      )}
    </Stack>
  )
}
