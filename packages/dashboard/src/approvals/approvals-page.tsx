import { Button, Card, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useDisclosure, useLocalStorage } from '@mantine/hooks'
import { IconCheck, IconChecks, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { type ActionPlace, actionKey, approvalsQuery, type WaitingAction } from '../api/approvals.ts'
import { useMay } from '../app/may.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { Pager } from '../ui/pager.tsx'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { ActionCard } from './action-card.tsx'
import classes from './approvals.module.css'
import { PAGE_LENGTH } from './page-lengths.ts'
import { RejectDialog } from './reject-dialog.tsx'
import { ShortcutHelp } from './shortcut-help.tsx'
import { useDecisions } from './use-decisions.ts'
import { useShortcuts } from './use-shortcuts.ts'

const route = getRouteApi('/shell/approvals')

/** All actions that wait for a decision. */
export function ApprovalsPage() {
  const { page = 1, agent_id } = route.useSearch()
  const navigate = route.useNavigate()
  const filters = { page, limit: PAGE_LENGTH, agent_id }
  const { data, error, refetch } = useQuery(approvalsQuery(filters))
  const help = useDisclosure()
  const [isOn, setOn] = useLocalStorage({ key: 'approval-shortcuts', defaultValue: true })
  const mayDecide = useMay('agents:approve')
  const total = data?.pagination.total_items ?? 0
  return (
    <>
      <PageHeader
        title="Approvals"
        description="Actions that agents propose wait here for a decision. Nothing is sent before it is approved."
        actions={mayDecide ? <ShortcutHelp disclosure={help} isOn={isOn} onToggle={setOn} /> : null}
      />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={8} /> : null}
      {data && data.actions.length === 0 ? (
        <Card>
          <EmptyState icon={IconChecks} title="Nothing to approve">
            When an agent proposes an e-mail or a message, you approve, edit or reject it here.
          </EmptyState>
        </Card>
      ) : null}
      {data && data.actions.length > 0 ? (
        <>
          <Inbox
            actions={data.actions}
            mayDecide={mayDecide}
            hasShortcuts={isOn && mayDecide}
            openHelp={help[1].open}
            onAllDecided={() => navigate({ search: agent_id === undefined ? {} : { agent_id }, replace: true })}
          />
          {total > PAGE_LENGTH ? (
            <Card mt="md" p={0}>
              <Pager
                label="waiting actions"
                page={page}
                limit={PAGE_LENGTH}
                total={total}
                onPage={(next) =>
                  navigate({ search: (before) => ({ ...before, page: next === 1 ? undefined : next }) })
                }
              />
            </Card>
          ) : null}
        </>
      ) : null}
    </>
  )
}

interface InboxProps {
  actions: WaitingAction[]
  mayDecide: boolean
  hasShortcuts: boolean
  openHelp: () => void
  onAllDecided: () => unknown
}

function Inbox({ actions, mayDecide, hasShortcuts, openHelp, onAllDecided }: InboxProps) {
  const decisions = useDecisions()
  const [active, setActive] = useState(0)
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
    const card = cards.current.get(actionKey(action))
    card?.focus({ preventScroll: true })
    card?.scrollIntoView({ block: 'nearest' })
  }
  /** Moves to the next pending action, so that the whole inbox can be decided by keyboard. */
  const goOn = (from: number) => {
    const next = actions.findIndex((action, index) => index > from && isOpen(action))
    if (next >= 0) focus(next)
  }
  const approve = (action: WaitingAction, params?: Record<string, unknown>) => {
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
  useShortcuts(
    hasShortcuts
      ? {
          j: () => focus(Math.min(active + 1, actions.length - 1)),
          k: () => focus(Math.max(active - 1, 0)),
          a: onCurrent((action) => approve(action)),
          e: onCurrent((action) => setEditing(actionKey(action))),
          r: onCurrent((action) => setRejecting([action])),
          x: onCurrent(toggle),
          '?': openHelp,
        }
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
    <Stack gap="md">
      {mayDecide ? (
        <Card padding="xs" px="md" className={classes.bulk}>
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
                All decided: load more
              </Button>
            ) : null}
            {chosen.length > 0 ? (
              <Group gap="xs">
                <Button
                  size="xs"
                  leftSection={<IconCheck size={14} aria-hidden />}
                  onClick={() => {
                    void decisions.decideMany('approve', chosen)
                    setSelected(new Set())
                  }}
                >
                  Approve selected
                </Button>
                <Button
                  size="xs"
                  variant="default"
                  leftSection={<IconX size={14} aria-hidden />}
                  onClick={() => setRejecting(chosen)}
                >
                  Reject selected
                </Button>
              </Group>
            ) : null}
          </Group>
        </Card>
      ) : (
        <Text size="sm" c="dimmed">
          Your role does not allow approving or rejecting actions.
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
  if (open === 0) return 'Nothing is left on this page'
  return chosen === 0 ? `Select all ${open}` : `${chosen} selected`
}
