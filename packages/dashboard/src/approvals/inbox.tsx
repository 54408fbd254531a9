import { Button, Card, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { IconCheck, IconX } from '@tabler/icons-react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { failuresOf } from '../agents/guardrail-list.tsx'
import { type ActionPlace, actionKey, type WaitingAction } from '../api/approvals.ts'
import { useShortcuts } from '../ui/shortcuts.ts'
import { ActionCard } from './action-card.tsx'
import classes from './approvals.module.css'
import { RejectDialog } from './reject-dialog.tsx'
import { text } from './text.ts'
import { useDecisions } from './use-decisions.ts'

/** Of the bar above the cards: padding and border, above and below. */
const BAR_PADDING = 22

interface InboxProps {
  actions: WaitingAction[]
  mayDecide: boolean
  hasShortcuts: boolean
  onAllDecided: () => unknown
}

/** The actions of one page, to be decided one by one or together, with the mouse or the keyboard. */
export function Inbox({ actions, mayDecide, hasShortcuts, onAllDecided }: InboxProps) {
  const decisions = useDecisions()
  const [active, setActive] = useState(0)
  /** Counts the moves to a card. */
  const [shown, setShown] = useState(0)
  const { ref: bar, height: barHeight } = useElementSize()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [editing, setEditing] = useState<string | null>(null)
  const [rejecting, setRejecting] = useState<ActionPlace[]>([])
  const cards = useRef(new Map<string, HTMLElement>())

  const isOpen = (action: ActionPlace) => {
    const state = decisions.outcomes.get(actionKey(action))?.state
    return state === undefined || state === 'refused'
  }
  const open = actions.filter(isOpen)
  const isSending = [...decisions.outcomes.values()].some(({ state }) => state === 'sending')
  const chosen = open.filter((action) => selected.has(actionKey(action)))
  const current = actions[active]

  const focus = (index: number) => {
    const action = actions[index]
    if (!action) return
    setActive(index)
    setShown((before) => before + 1)
  }
  // After the render: a decided card is shorter, so the next one has moved. Its beginning must be visible, whatever its
  // length, because it says who is addressed and why.
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each move, even to the same card
  useLayoutEffect(() => {
    if (shown === 0 || !current) return
    const card = cards.current.get(actionKey(current))
    card?.focus({ preventScroll: true })
    card?.scrollIntoView({ block: 'start' })
  }, [shown])
  /** Moves to the next pending action, so that the whole inbox can be decided by keyboard. */
  const goOn = (from: number) => {
    const next = actions.findIndex((action, index) => index > from && isOpen(action))
    if (next >= 0) focus(next)
  }
  /** @returns whether one of them would fail at a guardrail; these show why. */
  const refuse = (some: readonly WaitingAction[]) => {
    const refused = some.flatMap((action) => {
      const [failure] = failuresOf(action)
      return failure ? [{ place: action, message: failure.message }] : []
    })
    decisions.refuse(refused)
    return refused.length > 0
  }
  const approve = (action: WaitingAction, params?: Record<string, unknown>) => {
    if (refuse([action])) return
    setEditing(null)
    void decisions.approve(action, params)
    goOn(actions.indexOf(action))
  }
  const reject = (reason: string) => {
    const [first, ...more] = rejecting
    setRejecting([])
    if (!first) return
    if (more.length > 0) void decisions.decideMany('reject', rejecting, reason)
    else void decisions.reject(first, reason)
    if (more.length === 0) goOn(actions.findIndex((action) => actionKey(action) === actionKey(first)))
    setSelected(new Set())
  }
  const cancelRejection = () => {
    setRejecting([])
    focus(active)
  }
  const toggle = (action: ActionPlace) =>
    setSelected((before) => {
      const key = actionKey(action)
      return before.has(key) ? new Set([...before].filter((each) => each !== key)) : new Set([...before, key])
    })
  const onCurrent = (work: (action: WaitingAction) => void) => () => {
    if (current && isOpen(current)) work(current)
  }
  const { shortcuts } = text
  useShortcuts(
    text.title,
    hasShortcuts
      ? [
          { keys: 'j', label: shortcuts.next, run: () => focus(Math.min(active + 1, actions.length - 1)) },
          { keys: 'k', label: shortcuts.previous, run: () => focus(Math.max(active - 1, 0)) },
          { keys: 'a', label: shortcuts.approve, run: onCurrent((action) => approve(action)) },
          { keys: 'e', label: shortcuts.edit, run: onCurrent((action) => setEditing(actionKey(action))) },
          { keys: 'r', label: shortcuts.reject, run: onCurrent((action) => setRejecting([action])) },
          { keys: 'x', label: shortcuts.select, run: onCurrent(toggle) },
        ]
      : undefined,
  )
  const isAllDecided = open.length === 0 && !isSending
  const loadMore = async () => {
    setSelected(new Set())
    setActive(0)
    await onAllDecided()
    await decisions.startOver()
  }
  // Another page or a newer response starts at its first action.
  const firstKey = actions[0] ? actionKey(actions[0]) : ''
  useEffect(() => {
    if (firstKey) setActive(0)
  }, [firstKey])

  return (
    <Stack gap="md" style={{ '--bulk-height': `${mayDecide ? barHeight + BAR_PADDING : 0}px` }}>
      {mayDecide ? (
        <Card component="section" aria-label={text.bulk.label} ref={bar} padding="xs" px="md" className={classes.bulk}>
          <Group gap="sm" justify="space-between">
            <Checkbox
              label={selectionWords(chosen.length, open.length)}
              checked={open.length > 0 && chosen.length === open.length}
              indeterminate={chosen.length > 0 && chosen.length < open.length}
              disabled={open.length === 0}
              onChange={() => setSelected(new Set(chosen.length === open.length ? [] : open.map(actionKey)))}
            />
            {isAllDecided ? (
              <Button size="xs" onClick={loadMore}>
                {text.bulk.loadMore}
              </Button>
            ) : null}
            {chosen.length > 0 ? (
              <Group gap="xs">
                <Button
                  size="xs"
                  leftSection={<IconCheck size={14} aria-hidden />}
                  onClick={() => {
                    refuse(chosen)
                    void decisions.decideMany(
                      'approve',
                      chosen.filter((action) => failuresOf(action).length === 0),
                    )
                    setSelected(new Set())
                  }}
                >
                  {text.bulk.approve}
                </Button>
                <Button
                  size="xs"
                  variant="default"
                  leftSection={<IconX size={14} aria-hidden />}
                  onClick={() => setRejecting(chosen)}
                >
                  {text.bulk.reject}
                </Button>
              </Group>
            ) : null}
          </Group>
        </Card>
      ) : (
        <Text size="sm" c="dimmed">
          {text.readOnly}
        </Text>
      )}
      {actions.map((action, index) => {
        const key = actionKey(action)
        return (
          <ActionCard
            key={key}
            action={action}
            outcome={decisions.outcomes.get(key)}
            isActive={hasShortcuts && index === active}
            isSelected={selected.has(key)}
            isEditing={editing === key}
            mayDecide={mayDecide}
            ref={(card) => {
              if (card) cards.current.set(key, card)
              else cards.current.delete(key)
            }}
            onFocus={() => setActive(index)}
            onSelect={() => toggle(action)}
            onApprove={(params) => approve(action, params)}
            onEdit={(isEditing) => setEditing(isEditing ? key : null)}
            onReject={() => setRejecting([action])}
          />
        )
      })}
      <RejectDialog count={rejecting.length} onReject={reject} onClose={cancelRejection} />
    </Stack>
  )
}

function selectionWords(chosen: number, open: number): string {
  if (open === 0) return text.bulk.nothingLeft
  return chosen === 0 ? text.bulk.selectAll(open) : text.bulk.selected(chosen)
}
