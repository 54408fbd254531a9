import type { KeyboardEvent } from 'react'
import { actionKey } from '../agents/action-words.ts'
import type { Selection } from '../ui/use-selection.ts'
import { ActionRow } from './action-row.tsx'
import classes from './approvals.module.css'
import { text } from './text.ts'
import type { Outcome } from './use-decisions.ts'
import type { WaitingAction } from './waiting.ts'

interface ActionListProps {
  actions: readonly WaitingAction[]
  outcomes: ReadonlyMap<string, Outcome>
  /** The position of the action whose preview is shown; -1 for none. */
  chosen: number
  selection: Selection
  mayDecide: boolean
  isOpen: (action: WaitingAction) => boolean
  /** Receives each row, to give it the focus. */
  rows: Map<string, HTMLElement>
  onChoose: (position: number) => void
  /** Goes to the preview. */
  onOpen: (position: number) => void
  /** Selects from the chosen action up to another one. */
  onExtend: (position: number) => void
}

/** The proposals of a page as a list box: the arrow keys move in it, the space bar selects. */
export function ActionList(props: ActionListProps) {
  const { actions, outcomes, chosen, selection, mayDecide, isOpen, rows, onChoose, onOpen, onExtend } = props
  const last = actions.length - 1
  const onKeyDown = (event: KeyboardEvent) => {
    const at = actions.findIndex((action) => rows.get(actionKey(action)) === event.target)
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return
    const move = event.shiftKey && mayDecide ? onExtend : onChoose
    switch (event.key) {
      case 'ArrowDown':
        move(Math.min(at + 1, last))
        break
      case 'ArrowUp':
        move(Math.max(at - 1, 0))
        break
      case 'Home':
        move(0)
        break
      case 'End':
        move(last)
        break
      case 'Enter':
        onOpen(at)
        break
      case ' ':
        if (mayDecide) selection.toggle(at, event.shiftKey)
        break
      default:
        return
    }
    event.preventDefault()
  }
  return (
    <div
      role="listbox"
      aria-label={text.list.label}
      aria-multiselectable={mayDecide}
      className={classes.list}
      onKeyDown={onKeyDown}
    >
      {actions.map((action, index) => {
        const key = actionKey(action)
        return (
          <ActionRow
            key={key}
            action={action}
            outcome={outcomes.get(key)}
            isChosen={index === chosen}
            isSelected={selection.ids.has(key) && isOpen(action)}
            isInTabOrder={index === Math.max(chosen, 0)}
            canBeSelected={mayDecide ? isOpen(action) : undefined}
            ref={(row) => {
              if (row) rows.set(key, row)
              else rows.delete(key)
            }}
            onChoose={(event) => {
              if (event.shiftKey && mayDecide) onExtend(index)
              else if ((event.ctrlKey || event.metaKey) && mayDecide) selection.toggle(index, false)
              else onChoose(index)
            }}
            onSelect={(isRange) => selection.toggle(index, isRange)}
          />
        )
      })}
    </div>
  )
}
