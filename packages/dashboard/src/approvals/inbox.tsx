import { Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { actionKey, personName } from '../agents/action-words.ts'
import { failuresOf } from '../agents/guardrail-list.tsx'
import type { ActionPlace } from '../api/types.ts'
import { useShortcuts } from '../ui/shortcuts.ts'
import { isolated } from '../ui/text.tsx'
import { useSelection } from '../ui/use-selection.ts'
import { ActionList } from './action-list.tsx'
import { isOver } from './action-row.tsx'
import classes from './approvals.module.css'
import { BulkBar } from './bulk-bar.tsx'
import { DecisionBar } from './decision-bar.tsx'
import { Preview } from './preview.tsx'
import { RejectDialog } from './reject-dialog.tsx'
import { text } from './text.ts'
import { useChosenPlace } from './use-chosen-place.ts'
import { useDecisions } from './use-decisions.ts'
import type { WaitingAction } from './waiting.ts'

interface InboxProps {
  actions: WaitingAction[]
  /** The key of the chosen action in the address. */
  action: string | undefined
  /** @param isStep whether the browser's button for the previous page undoes it. */
  onChoose: (key: string | undefined, isStep: boolean) => unknown
  mayDecide: boolean
  hasShortcuts: boolean
  onAllDecided: () => unknown
}

/** The actions of one page, to be decided one by one or together, with the mouse or the keyboard. */
export function Inbox({ actions, action, onChoose, mayDecide, hasShortcuts, onAllDecided }: InboxProps) {
  const decisions = useDecisions()
  const place = useChosenPlace(actions, action, onChoose)
  const { chosen, current, focus, giveFocus } = place
  const selection = useSelection(place.keys)
  const [editing, setEditing] = useState<string | null>(null)
  const [rejecting, setRejecting] = useState<readonly ActionPlace[]>([])
  const isOpen = (each: ActionPlace) => !isOver(decisions.outcomes.get(actionKey(each)))
  const open = actions.filter(isOpen)
  const selected = open.filter((each) => selection.ids.has(actionKey(each)))
  const isBusy = [...decisions.outcomes.values()].some(({ state }) => state === 'sending')

  /** Goes on with the next waiting action, so that the whole inbox can be decided by keyboard. */
  const goOn = (from: number) => {
    const isNext = (_: unknown, index: number) => index !== from && isOpen(actions[index] as WaitingAction)
    const after = actions.findIndex((each, index) => index > from && isNext(each, index))
    const next = after >= 0 ? after : actions.findIndex(isNext)
    if (next >= 0) focus(next)
    else if (!place.isWide) place.back()
  }
  /** @returns whether one of them would fail at a guardrail; these show why. */
  const refuse = (some: readonly WaitingAction[]) => {
    const refused = some.flatMap((place) => {
      const [failure] = failuresOf(place)
      return failure ? [{ place, message: failure.message }] : []
    })
    decisions.refuse(refused)
    return refused.length > 0
  }
  const approve = (each: WaitingAction, params?: Record<string, unknown>) => {
    if (refuse([each])) return
    setEditing(null)
    void decisions.approve(each, params)
    goOn(actions.indexOf(each))
  }
  const approveSelected = () => {
    refuse(selected)
    void decisions.decideMany(
      'approve',
      selected.filter((each) => failuresOf(each).length === 0),
    )
    selection.clear()
    giveFocus()
  }
  const reject = (reason: string) => {
    const [first, ...more] = rejecting
    setRejecting([])
    if (!first) return
    if (more.length > 0) {
      void decisions.decideMany('reject', rejecting, reason)
      selection.clear()
      return giveFocus()
    }
    void decisions.reject(first, reason)
    goOn(place.keys.indexOf(actionKey(first)))
  }
  const undo = async () => {
    const first = decisions.undoable.at(-1)?.places[0]
    const index = first ? place.keys.indexOf(actionKey(first)) : -1
    const choose = () => index >= 0 && focus(index)
    // At once: a key that is pressed before the answer must not decide the action after it.
    choose()
    await decisions.undo()
    choose()
  }
  const extendTo = (index: number) => {
    if (selected.length === 0 && chosen >= 0) selection.toggle(chosen, false)
    selection.toggle(index, true)
    focus(index)
  }
  const edit = (isEditing: boolean) => {
    setEditing(isEditing && current ? actionKey(current) : null)
    if (!isEditing) giveFocus()
  }
  const onCurrent = (work: (each: WaitingAction) => void) => () => {
    if (current && isOpen(current)) work(current)
  }
  const [next, previous] = [Math.min(chosen + 1, actions.length - 1), Math.max(chosen - 1, 0)]
  const keys = {
    next: () => focus(next),
    previous: () => focus(previous),
    approve: onCurrent((each) => approve(each)),
    edit: onCurrent(() => edit(true)),
    reject: onCurrent((each) => setRejecting([each])),
    select: onCurrent(() => selection.toggle(chosen, false)),
    extendDown: () => extendTo(next),
    extendUp: () => extendTo(previous),
    undo: () => void undo(),
  }
  useInboxShortcuts(hasShortcuts ? keys : undefined)
  const loadMore = async () => {
    selection.clear()
    place.choose(undefined)
    await onAllDecided()
    await decisions.startOver()
  }
  const undoable = decisions.undoable.at(-1)
  const only = undoable && actions.find((each) => actionKey(each) === actionKey(undoable.places[0] as ActionPlace))

  return (
    <>
      {place.isElsewhere ? (
        <Text size="sm" c="dimmed" mb="sm" role="status">
          {text.notHere}
        </Text>
      ) : null}
      <div className={classes.panes} data-open={place.isOpened || undefined}>
        <Stack gap="xs">
          {mayDecide ? (
            <BulkBar
              open={open.length}
              chosen={selected.length}
              isBusy={isBusy}
              onToggleAll={() => (selected.length === open.length ? selection.clear() : selection.toggleAll())}
              onApprove={approveSelected}
              onReject={() => setRejecting(selected)}
              onLoadMore={() => void loadMore()}
            />
          ) : (
            <Text size="sm" c="dimmed">
              {text.readOnly}
            </Text>
          )}
          <ActionList
            actions={actions}
            outcomes={decisions.outcomes}
            chosen={chosen}
            selection={selection}
            mayDecide={mayDecide}
            isOpen={isOpen}
            rows={place.rows}
            onChoose={focus}
            onOpen={place.open}
            onExtend={extendTo}
          />
        </Stack>
        {current ? (
          <Preview
            key={actionKey(current)}
            action={current}
            outcome={decisions.outcomes.get(actionKey(current))}
            isEditing={editing === actionKey(current)}
            mayDecide={mayDecide}
            ref={place.preview}
            onBack={place.isWide ? undefined : place.back}
            onApprove={(params) => approve(current, params)}
            onEdit={edit}
            onReject={() => setRejecting([current])}
          />
        ) : null}
      </div>
      <DecisionBar
        undoable={undoable}
        name={only ? isolated(personName(only.contact).slice(0, 80)) : ''}
        progress={decisions.progress}
        notice={decisions.notice}
        onUndo={() => void undo()}
      />
      <RejectDialog
        count={rejecting.length}
        onReject={reject}
        onClose={() => {
          setRejecting([])
          giveFocus()
        }}
      />
    </>
  )
}

const KEYS = {
  next: 'j',
  previous: 'k',
  approve: 'a',
  edit: 'e',
  reject: 'r',
  select: 'x',
  extendDown: 'Shift+J',
  extendUp: 'Shift+K',
  undo: 'z',
} as const

/** The keys of the inbox. @param work what each does; undefined while they are not available. */
export function useInboxShortcuts(work: Record<keyof typeof KEYS, () => void> | undefined): void {
  useShortcuts(
    text.title,
    work &&
      Object.entries(KEYS).map(([name, keys]) => ({
        keys,
        label: text.shortcuts[name as keyof typeof KEYS],
        run: work[name as keyof typeof KEYS],
      })),
  )
}
