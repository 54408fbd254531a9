import { Alert, Anchor, Badge, Button, Card, Checkbox, Group, Stack, Text } from '@mantine/core'
import { IconCheck, IconEdit, IconX } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type Ref, useId } from 'react'
import { ActionContent } from '../agents/action-content.tsx'
import { ACTION_WORDS, personName, proposerName } from '../agents/action-words.ts'
import { failuresOf, GuardrailList } from '../agents/guardrail-list.tsx'
import type { WaitingAction } from '../api/approvals.ts'
import { Foreign, Moment } from '../ui/text.tsx'
import { ActionForm } from './action-form.tsx'
import classes from './approvals.module.css'
import { Execution } from './execution.tsx'
import { text } from './text.ts'
import type { Outcome } from './use-decisions.ts'

export interface ActionCardProps {
  action: WaitingAction
  outcome: Outcome | undefined
  /** Whether the keyboard shortcuts act on it. */
  isActive: boolean
  isSelected: boolean
  isEditing: boolean
  mayDecide: boolean
  ref: Ref<HTMLElement>
  onFocus: () => void
  onSelect: () => void
  onApprove: (params?: Record<string, unknown>) => void
  onEdit: (isEditing: boolean) => void
  onReject: () => void
}

/** A pending action: recipient, sender, reasoning and exact content. */
export function ActionCard(props: ActionCardProps) {
  const { action, outcome, isActive, isSelected, isEditing, mayDecide } = props
  const title = useId()
  const { label, icon: Icon, color } = ACTION_WORDS[action.type]
  const name = personName(action.contact)
  const isBlocked = failuresOf(action).length > 0
  const isOver = outcome !== undefined && outcome.state !== 'refused'
  return (
    <Card
      component="article"
      // The types of a card only know a div's ref; this card is an article.
      ref={props.ref as Ref<HTMLDivElement>}
      tabIndex={-1}
      aria-labelledby={title}
      className={classes.card}
      data-active={isActive || undefined}
      onFocus={props.onFocus}
    >
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" gap="sm" wrap="nowrap">
          <Group gap="sm" align="flex-start" wrap="nowrap" miw={0}>
            {mayDecide && !isOver ? (
              <Checkbox mt={3} checked={isSelected} onChange={props.onSelect} aria-label={text.card.select(name)} />
            ) : null}
            <div>
              <Group gap={8}>
                <Badge color={color} leftSection={<Icon size={13} aria-hidden />}>
                  {label}
                </Badge>
                <Text component="h2" id={title} fw={600}>
                  {action.contact ? (
                    <Anchor
                      inherit
                      renderRoot={(root) => (
                        <Link to="/contacts/$contactId" params={{ contactId: action.contact_id }} {...root} />
                      )}
                    >
                      <Foreign max={80}>{name}</Foreign>
                    </Anchor>
                  ) : (
                    name
                  )}
                </Text>
              </Group>
              <Text size="sm" c="dimmed" mt={2}>
                <Foreign max={160}>{describePerson(action)}</Foreign>
              </Text>
            </div>
          </Group>
          <Moment at={action.created_at} size="xs" c="dimmed" ta="right" flex="none" />
        </Group>
        {isOver ? (
          <Result outcome={outcome} name={name} />
        ) : (
          <>
            <Text size="sm" component="div">
              <Text span inherit c="dimmed">
                {text.card.proposedBy}
              </Text>
              {action.proposed_by === null ? null : (
                <>
                  <Foreign max={80}>{proposerName(action.proposed_by)}</Foreign>
                  <Text span inherit c="dimmed">
                    {text.card.forAgent}
                  </Text>
                </>
              )}
              <Anchor
                inherit
                renderRoot={(root) => <Link to="/agents/runs/$runId" params={{ runId: action.run_id }} {...root} />}
              >
                <Foreign max={80}>{action.agent.name}</Foreign>
              </Anchor>
              {action.reasoning ? (
                <>
                  <Text span inherit c="dimmed">
                    :{' '}
                  </Text>
                  <Foreign max={2_000}>{action.reasoning}</Foreign>
                </>
              ) : null}
            </Text>
            {isEditing ? (
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
            {outcome?.state === 'refused' ? (
              <Alert color="red" role="alert" title={text.card.stillWaiting}>
                {outcome.message}
              </Alert>
            ) : null}
            {mayDecide && isBlocked ? (
              <Text size="sm" c="dimmed">
                {text.card.blocked}
              </Text>
            ) : null}
            {mayDecide && !isEditing ? (
              <Group gap="xs">
                <Button
                  px="sm"
                  leftSection={<IconCheck size={16} aria-hidden />}
                  disabled={isBlocked}
                  onClick={() => props.onApprove()}
                >
                  {text.card.approve}
                </Button>
                <Button
                  px="sm"
                  variant="default"
                  leftSection={<IconEdit size={16} aria-hidden />}
                  onClick={() => props.onEdit(true)}
                >
                  {text.card.edit}
                </Button>
                <Button
                  px="sm"
                  variant="default"
                  leftSection={<IconX size={16} aria-hidden />}
                  onClick={props.onReject}
                >
                  {text.card.reject}
                </Button>
              </Group>
            ) : null}
          </>
        )}
      </Stack>
    </Card>
  )
}

function Result({ outcome, name }: { outcome: Outcome; name: string }) {
  switch (outcome.state) {
    case 'sending':
      return (
        <Text size="sm" c="dimmed" role="status">
          {outcome.verb === 'approve' ? text.outcome.approving : text.outcome.rejecting}
        </Text>
      )
    case 'done':
      return outcome.verb === 'approve' ? (
        <Execution approved={outcome.action} name={name} />
      ) : (
        <Text size="sm" role="status" c="dimmed">
          {text.outcome.rejected}
        </Text>
      )
    default:
      return (
        <Alert color="orange" role="alert" title={text.card.gone}>
          {outcome.message}
        </Alert>
      )
  }
}

function describePerson({ contact }: WaitingAction): string {
  if (contact === null) return ''
  const work = text.card.worksAs(contact.jobtitle, contact.company)
  return [contact.firstname || contact.lastname ? contact.email : null, work].filter(Boolean).join(' · ')
}

function senderAndRecipient({ type, identity, contact }: WaitingAction) {
  const name = identity ? `${identity.firstName} ${identity.lastName}` : ''
  const address = type === 'email_message' && identity?.address ? ` <${identity.address}>` : ''
  const to = type === 'email_message' ? contact?.email : personName(contact)
  return {
    from: identity ? `${name}${address}` : text.card.noSender,
    to: to ?? undefined,
  }
}
