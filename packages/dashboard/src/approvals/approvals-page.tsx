import { Button, Card } from '@mantine/core'
import { IconChecks } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { useMay } from '../session/may.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { Pager } from '../ui/pager.tsx'
import { useShortcutsSwitch } from '../ui/shortcuts.ts'
import { ShortcutsButton } from '../ui/shortcuts-button.tsx'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { Filters } from './filters.tsx'
import { Inbox } from './inbox.tsx'
import { text } from './text.ts'
import { APPROVALS_LENGTH, inputOf } from './waiting.ts'

const route = getRouteApi('/shell/approvals')

/** All actions that wait for a decision. */
export function ApprovalsPage() {
  const { action, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch } = useQuery(queryOf('listApprovals', inputOf(filters)))
  const [isOn] = useShortcutsSwitch()
  const mayDecide = useMay('agents:approve')
  const { page = 1, agent_id, type } = filters
  const isFiltered = agent_id !== undefined || type !== undefined
  const total = data?.pagination.total_items ?? 0
  const isEmpty = data?.actions.length === 0
  return (
    <>
      <PageHeader title={text.title} description={text.description} actions={mayDecide ? <ShortcutsButton /> : null} />
      {isEmpty && !isFiltered ? null : (
        <Filters filters={filters} onChange={(changed) => navigate({ search: changed, replace: true })} />
      )}
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={8} /> : null}
      {isEmpty ? (
        <Card>
          <EmptyState
            icon={IconChecks}
            title={isFiltered ? text.noneMatches : text.none}
            action={isFiltered ? <Button onClick={() => navigate({ search: {} })}>{text.showAll}</Button> : null}
          >
            {isFiltered ? null : text.noneHint}
          </EmptyState>
        </Card>
      ) : null}
      {data && !isEmpty ? (
        <>
          <Inbox
            actions={data.actions}
            action={action}
            onChoose={(key, isStep) =>
              navigate({
                search: (before) => ({ ...before, action: key }),
                replace: !isStep,
                resetScroll: false,
              })
            }
            mayDecide={mayDecide}
            hasShortcuts={isOn && mayDecide}
            onAllDecided={() => navigate({ search: { agent_id, type }, replace: true })}
          />
          {total > APPROVALS_LENGTH ? (
            <Card mt="md" p={0}>
              <Pager
                label={text.pager}
                page={page}
                limit={APPROVALS_LENGTH}
                total={total}
                onPage={(next) => navigate({ search: { agent_id, type, page: next === 1 ? undefined : next } })}
              />
            </Card>
          ) : null}
        </>
      ) : null}
    </>
  )
}
