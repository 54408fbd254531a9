import { CheckboxIndicator, Text, VisuallyHidden } from '@mantine/core'
import type { MouseEvent, Ref } from 'react'
import { ACTION_WORDS, personName } from '../agents/action-words.ts'
import { PersonAvatar } from '../ui/person-avatar.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import classes from './approvals.module.css'
import { ExecutionLine } from './execution.tsx'
import { text } from './text.ts'
import type { Outcome } from './use-decisions.ts'
import type { WaitingAction } from './waiting.ts'

interface ActionRowProps {
  action: WaitingAction
  outcome: Outcome | undefined
  /** Whether its preview is shown. */
  isChosen: boolean
  isSelected: boolean
  /** Whether Tab reaches it. */
  isInTabOrder: boolean
  /** Whether it can be selected, to be decided with others; undefined: none can. */
  canBeSelected: boolean | undefined
  ref: Ref<HTMLDivElement>
  onChoose: (event: MouseEvent) => void
  onSelect: (isRange: boolean) => void
}

/** A proposal in the list: who, what, and why, in two short lines. */
export function ActionRow(props: ActionRowProps) {
  const { action, outcome, isChosen, isSelected, canBeSelected } = props
  const { label, icon: Icon } = ACTION_WORDS[action.type]
  const name = personName(action.contact)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
    <div
      ref={props.ref}
      role="option"
      aria-selected={isSelected}
      aria-current={isChosen || undefined}
      tabIndex={props.isInTabOrder ? 0 : -1}
      className={classes.row}
      data-chosen={isChosen || undefined}
      onClick={props.onChoose}
    >
      {canBeSelected === undefined ? null : (
        // An option must not contain a control; its key is `x` or the space bar.
        <span
          className={classes.check}
          data-none={canBeSelected ? undefined : true}
          aria-hidden
          onClick={(event) => {
            event.stopPropagation()
            props.onSelect(event.shiftKey)
          }}
        >
          <CheckboxIndicator component="span" checked={isSelected} size="xs" />
        </span>
      )}
      <PersonAvatar name={name} size={30} />
      <div className={classes.lines}>
        <div className={classes.line}>
          <Text span inherit fw={600} truncate>
            <Foreign max={80}>{name}</Foreign>
          </Text>
          <Text span size="xs" c="dimmed" truncate flex={1}>
            <Foreign max={80}>{action.contact?.company ?? ''}</Foreign>
          </Text>
          <Moment at={action.created_at} size="xs" c="dimmed" flex="none" />
        </div>
        <div className={classes.line}>
          <Icon size={14} aria-hidden className={classes.icon} />
          <VisuallyHidden>{label}</VisuallyHidden>
          {outcome === undefined ? (
            <>
              <Text span size="xs" truncate>
                <Foreign max={240}>{action.reasoning ?? ''}</Foreign>
              </Text>
              <Text span size="xs" c="dimmed" truncate className={classes.agent}>
                <Foreign max={60}>{action.agent.name}</Foreign>
              </Text>
            </>
          ) : (
            <Text span size="xs" fw={550} truncate>
              <OutcomeLine action={action} outcome={outcome} />
            </Text>
          )}
        </div>
      </div>
    </div>
  )
}

function OutcomeLine({ action, outcome }: { action: WaitingAction; outcome: Outcome }) {
  switch (outcome.state) {
    case 'sending':
      return outcome.verb === 'approve' ? text.outcome.approving : text.outcome.rejecting
    case 'done':
      return outcome.verb === 'approve' ? (
        <ExecutionLine action={action} approved={outcome.action} />
      ) : (
        text.outcome.rejected
      )
    case 'gone':
      return (
        <Text span inherit c="orange">
          {outcome.message}
        </Text>
      )
    default:
      return (
        <Text span inherit c="red">
          {text.outcome.refused(outcome.message)}
        </Text>
      )
  }
}

/** Whether an action no longer waits, as far as is known. */
export function isOver(outcome: Outcome | undefined): boolean {
  return outcome !== undefined && outcome.state !== 'refused'
}
