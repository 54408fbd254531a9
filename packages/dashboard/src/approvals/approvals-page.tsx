import { Card } from '@mantine/core'
import { IconChecks } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { APPROVALS_LENGTH, approvalsQuery } from '../api/approvals.ts'
import { useMay } from '../session/may.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { Pager } from '../ui/pager.tsx'
import { useShortcutsSwitch } from '../ui/shortcuts.ts'
import { ShortcutsButton } from '../ui/shortcuts-button.tsx'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { Inbox } from './inbox.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/approvals')

/** All actions that wait for a decision. */
export function ApprovalsPage() {
  const { page = 1, agent_id } = route.useSearch()
  const navigate = route.useNavigate()
  const filters = { page, limit: APPROVALS_LENGTH, agent_id }
  const { data, error, refetch } = useQuery(approvalsQuery(filters))
  const [isOn] = useShortcutsSwitch()
  const mayDecide = useMay('agents:approve')
  const total = data?.pagination.total_items ?? 0
  return (
    <>
      <PageHeader title={text.title} description={text.description} actions={mayDecide ? <ShortcutsButton /> : null} />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={8} /> : null}
      {data && data.actions.length === 0 ? (
        <Card>
          <EmptyState icon={IconChecks} title={text.none}>
            {text.noneHint}
          </EmptyState>
        </Card>
      ) : null}
      {data && data.actions.length > 0 ? (
        <>
          <Inbox
            actions={data.actions}
            mayDecide={mayDecide}
            hasShortcuts={isOn && mayDecide}
            onAllDecided={() => navigate({ search: agent_id === undefined ? {} : { agent_id }, replace: true })}
          />
          {total > APPROVALS_LENGTH ? (
            <Card mt="md" p={0}>
              <Pager
                label={text.pager}
                page={page}
                limit={APPROVALS_LENGTH}
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
