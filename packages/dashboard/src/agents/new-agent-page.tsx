import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { parseFilter } from '../filters/filter-text.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { newDraft } from './agent-draft.ts'
import { NewAgentSteps } from './new-agent-steps.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/agents/new')

export function NewAgentPage() {
  const { template, segment, filter } = route.useSearch()
  const { data, error, refetch } = useQuery(queryOf('listPlaybooks'))
  const playbooks = data?.playbooks
  return (
    <>
      <PageHeader
        title={text.form.newTitle}
        description={text.form.newDescription}
        breadcrumb={
          <AnchorLink inherit to="/agents">
            {text.title}
          </AnchorLink>
        }
      />
      {error && !playbooks ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !playbooks ? <LoadingState lines={8} /> : null}
      {playbooks ? (
        <NewAgentSteps
          initial={newDraft(playbooks, template ?? playbooks.templates[0]?.name ?? null, segment, filter !== undefined)}
          audience={parseFilter(filter)}
          playbooks={playbooks}
        />
      ) : null}
    </>
  )
}
