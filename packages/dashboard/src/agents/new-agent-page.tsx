import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { createAgent, playbooksQuery } from '../api/agents.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { newDraft } from './agent-draft.ts'
import { AgentForm } from './agent-form.tsx'

const route = getRouteApi('/shell/agents/new')

export function NewAgentPage() {
  const { template } = route.useSearch()
  const { data: playbooks, error, refetch } = useQuery(playbooksQuery)
  return (
    <>
      <PageHeader
        title="New agent"
        description="New agents are disabled: run it manually first and review what it proposes."
        breadcrumb={
          <Anchor inherit renderRoot={(props) => <Link to="/agents" {...props} />}>
            Agents
          </Anchor>
        }
      />
      {error && !playbooks ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !playbooks ? <LoadingState lines={8} /> : null}
      {playbooks ? (
        <AgentForm
          initial={newDraft(playbooks, template ?? playbooks.templates[0]?.name ?? null)}
          playbooks={playbooks}
          submitLabel="Create agent"
          save={createAgent}
        />
      ) : null}
    </>
  )
}
