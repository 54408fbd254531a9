import { Alert, Anchor, Box, Button, Card, Group, Stack, Text } from '@mantine/core'
import { IconArrowLeft, IconCheck, IconEdit, IconX } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type Ref, useId } from 'react'
import { ActionContent } from '../agents/action-content.tsx'
import { personName, proposerName } from '../agents/action-words.ts'
import { failuresOf, GuardrailList } from '../agents/guardrail-list.tsx'
import { Foreign } from '../ui/text.tsx'
import { ActionForm } from './action-form.tsx'
import { isOver } from './action-row.tsx'
import classes from './approvals.module.css'
import { Execution } from './execution.tsx'
import { Person } from './person.tsx'
import { text } from './text.ts'
import type { Outcome } from './use-decisions.ts'
import type { WaitingAction } from './waiting.ts'

export interface PreviewProps {
  action: WaitingAction
  outcome: Outcome | undefined
  isEditing: boolean
  mayDecide: boolean
  ref: Ref<HTMLElement>
  /** Closes the preview where it covers the list. */
  onBack: (() => void) | undefined
  onApprove: (params?: Record<string, unknown>) => void
  onEdit: (isEditing: boolean) => void
  onReject: () => void
}

/** A proposal in full: the person, why now, and exactly what would be sent. */
export function Preview(props: PreviewProps) {
  const { action, outcome, isEditing, mayDecide, onBack } = props
  const title = useId()
  const isBlocked = failuresOf(action).length > 0
  return (
    <Card
      component="article"
      // The types of a card only know a div's ref; this card is an article.
      ref={props.ref as Ref<HTMLDivElement>}
      tabIndex={-1}
      aria-labelledby={title}
      className={classes.preview}
    >
      <Stack gap="sm">
        {onBack ? (
          <Box>
            <Button
              variant="subtle"
              size="compact-sm"
              leftSection={<IconArrowLeft size={16} aria-hidden />}
              onClick={onBack}
            >
              {text.preview.back}
            </Button>
          </Box>
        ) : null}
        <Person action={action} titleId={title} />
        {isOver(outcome) ? <Result action={action} outcome={outcome} /> : <Decide {...props} isBlocked={isBlocked} />}
        <Why action={action} />
        {isEditing && !isOver(outcome) ? (
          <ActionForm
            action={action}
            isBlocked={isBlocked}
            onApprove={props.onApprove}
            onCancel={() => props.onEdit(false)}
          />
        ) : (
          <ActionContent action={action} {...senderAndRecipient(action)} />
        )}
        <GuardrailList
          guardrails={action.guardrails}
          identityId={action.identity?.identity_id}
          agentId={action.agent.agent_id}
        />
        {mayDecide && isBlocked && !isOver(outcome) ? (
          <Text size="sm" c="dimmed">
            {text.preview.blocked}
          </Text>
        ) : null}
      </Stack>
    </Card>
  )
}

/** The buttons of a decision, and why the last one failed. */
function Decide({ outcome, isEditing, mayDecide, isBlocked, ...props }: PreviewProps & { isBlocked: boolean }) {
  return (
    <>
      {outcome?.state === 'refused' ? (
        <Alert color="red" role="alert" title={text.preview.stillWaiting}>
          {outcome.message}
        </Alert>
      ) : null}
      {mayDecide && !isEditing ? (
        <Group gap="xs" wrap="nowrap" className={classes.decide}>
          <Button
            px="sm"
            leftSection={<IconCheck size={16} aria-hidden />}
            disabled={isBlocked}
            onClick={() => props.onApprove()}
          >
            {text.preview.approve}
          </Button>
          <Button
            px="sm"
            variant="default"
            leftSection={<IconEdit size={16} aria-hidden />}
            onClick={() => props.onEdit(true)}
          >
            {text.preview.edit}
          </Button>
          <Button px="sm" variant="default" leftSection={<IconX size={16} aria-hidden />} onClick={props.onReject}>
            {text.preview.reject}
          </Button>
        </Group>
      ) : null}
    </>
  )
}

function Result({ action, outcome }: { action: WaitingAction; outcome: Outcome | undefined }) {
  switch (outcome?.state) {
    case 'sending':
      return (
        <Text size="sm" c="dimmed">
          {outcome.verb === 'approve' ? text.outcome.approving : text.outcome.rejecting}
        </Text>
      )
    case 'done':
      return outcome.verb === 'approve' ? (
        <Execution action={action} approved={outcome.action} />
      ) : (
        <Text size="sm" c="dimmed">
          {text.outcome.rejected}
        </Text>
      )
    default:
      return (
        <Alert color="orange" role="alert" title={text.preview.gone}>
          {outcome?.message}
        </Alert>
      )
  }
}

/** Why the agent proposes it now, and who proposed it. */
function Why({ action }: { action: WaitingAction }) {
  const by = action.proposed_by
  return (
    <div>
      <Text size="xs" fw={600} c="dimmed" component="h3">
        {text.preview.whyNow}
      </Text>
      <Text size="sm">
        <Foreign max={2_000}>{action.reasoning || text.preview.noReason}</Foreign>
      </Text>
      <Text size="xs" c="dimmed" mt={2} component="div">
        {text.preview.proposedBy}
        {by === null ? text.preview.byAgent : <Foreign max={80}>{proposerName(by)}</Foreign>}
        {by === null ? null : text.preview.forAgent}
        <Anchor
          inherit
          renderRoot={(root) => <Link to="/agents/runs/$runId" params={{ runId: action.run_id }} {...root} />}
        >
          <Foreign max={80}>{action.agent.name}</Foreign>
        </Anchor>
      </Text>
    </div>
  )
}

function senderAndRecipient({ type, identity, contact }: WaitingAction) {
  const name = identity ? `${identity.firstName} ${identity.lastName}` : ''
  const address = type === 'email_message' && identity?.address ? ` <${identity.address}>` : ''
  const to = type === 'email_message' ? contact?.email : personName(contact)
  return {
    from: identity ? `${name}${address}` : text.preview.noSender,
    to: to ?? undefined,
  }
}
