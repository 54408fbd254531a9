import { Alert, Group, Text } from '@mantine/core'
import { IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import { contactName } from '../records/contact-name.ts'
import { useMay } from '../session/may.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { useShortcuts } from '../ui/shortcuts.ts'
import { EmptyState, ErrorState, LoadingState, messageOf } from '../ui/states.tsx'
import { ComparedPair } from './compared-pair.tsx'
import { ReviewActions } from './review-actions.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/duplicates')
/** How often the list is read again until a pair whose merge was undone is back. */
const RETURN_MS = 2_000

/** What was done last, to the pair that was shown. */
type Done = { what: 'merged'; contactId: string; name: string } | { what: 'dismissed' | 'undone' }

/** The pairs of contacts that are likely one person, one at a time. */
export function DuplicatesPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const [done, setDone] = useState<Done | null>(null)
  const [chosen, setChosen] = useState<string | null>(null)
  const mayWrite = useMay('contacts:write')
  const query = useQuery({
    ...queryOf('listDuplicates', { page, limit: 1 }),
    refetchInterval: done?.what === 'undone' && RETURN_MS,
  })
  const total = query.data?.pagination.total_items ?? 0
  const pair = query.data?.duplicates[0]
  const open = (next: number) =>
    void navigate({ search: next === 1 ? {} : { page: next }, replace: true, resetScroll: false })

  const merging = useOperation('mergeContact')
  const dismissing = useOperation('dismissDuplicate')
  const undoing = useOperation('unmergeContact')
  const isBusy = query.isPlaceholderData || [merging, dismissing, undoing].some(({ isPending }) => isPending)
  const error = [merging, dismissing, undoing].find(({ isError }) => isError)?.error

  const [older, newer] = pair?.contacts ?? []
  const kept = newer?.contact_id === chosen ? newer : older
  const other = kept === older ? newer : older
  /** The last pair has none after it. */
  const afterRemoval = () => {
    if (page >= total && page > 1) open(page - 1)
  }
  const begin = () => {
    for (const { reset } of [merging, dismissing, undoing]) reset()
    setDone(null)
  }
  const merge = () => {
    if (!kept || !other) return
    begin()
    const [contact_id, name] = [other.contact_id, contactName(other)]
    merging.mutate(
      { contact_id, into: kept.contact_id },
      {
        onSuccess: () => {
          setDone({ what: 'merged', contactId: contact_id, name })
          afterRemoval()
        },
      },
    )
  }
  const dismiss = () => {
    if (!pair) return
    begin()
    dismissing.mutate(
      { duplicate_id: pair.duplicate_id },
      {
        onSuccess: () => {
          setDone({ what: 'dismissed' })
          afterRemoval()
        },
      },
    )
  }
  const undo = () => {
    if (done?.what !== 'merged') return
    const { contactId } = done
    begin()
    undoing.mutate({ contact_id: contactId }, { onSuccess: () => setDone({ what: 'undone' }) })
  }
  const move = (by: number) => {
    if (page + by >= 1 && page + by <= total) open(page + by)
  }
  const act = (work: () => void) => () => {
    if (!isBusy && mayWrite) work()
  }
  const [previous, next] = [() => move(-1), () => move(1)]
  useShortcuts(text.title, [
    { keys: 'j', label: text.next, run: next },
    { keys: 'k', label: text.previous, run: previous },
    { keys: 'ArrowRight', label: text.next, run: next },
    { keys: 'ArrowLeft', label: text.previous, run: previous },
    ...(mayWrite
      ? [
          { keys: 'm', label: text.merge, run: act(merge) },
          { keys: 'd', label: text.dismiss, run: act(dismiss) },
          { keys: 'u', label: text.undo, run: act(undo) },
        ]
      : []),
  ])

  return (
    <>
      <PageHeader
        title={text.title}
        description={text.description}
        breadcrumb={<AnchorLink to="/contacts">{text.contacts}</AnchorLink>}
      />
      {done || error ? (
        <Alert color={error ? 'red' : 'teal'} mb="md" role={error ? 'alert' : 'status'}>
          {error
            ? messageOf(error)
            : done?.what === 'merged'
              ? text.merged(done.name.slice(0, 120))
              : done && text[done.what]}
        </Alert>
      ) : null}
      {query.error && !query.data ? <ErrorState error={query.error} onRetry={query.refetch} /> : null}
      {query.isPending ? <LoadingState /> : null}
      {query.data && (total > 0 || done?.what === 'merged') ? (
        <ReviewActions
          hasPair={pair !== undefined}
          isFirst={page <= 1}
          isLast={page >= total}
          isBusy={isBusy}
          mayWrite={mayWrite}
          onPrevious={previous}
          onNext={next}
          onMerge={merge}
          onDismiss={dismiss}
          onUndo={done?.what === 'merged' ? undo : undefined}
        />
      ) : null}
      {pair && kept ? (
        <>
          <Group justify="space-between" my="sm">
            <Text fw={600}>{text.confidence(pair.confidence)}</Text>
            <Text size="sm" c="dimmed">
              {text.place(page, total)}
            </Text>
          </Group>
          <ComparedPair pair={pair} keptId={kept.contact_id} onKeep={mayWrite ? setChosen : undefined} />
          {mayWrite ? (
            <Text size="sm" c="dimmed" mt="md">
              {text.explanation}
            </Text>
          ) : null}
        </>
      ) : null}
      {query.data && !pair ? (
        <EmptyState icon={IconUsers} title={text.none}>
          {text.noneHint}
        </EmptyState>
      ) : null}
    </>
  )
}
