import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { agentQuery, playbooksQuery, updateAgent } from '../api/agents.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { draftOf } from './agent-draft.ts'
import { AgentForm } from './agent-form.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/agents/$agentId/edit')

export function EditAgentPage() {
  const { agentId } = route.useParams()
  const agent = useQuery(agentQuery(agentId))
  const playbooks = useQuery(playbooksQuery)
  const error = agent.error ?? playbooks.error
  const isThere = agent.data !== undefined && playbooks.data !== undefined
  return (
    <>
      <PageHeader
        title={text.form.editTitle}
        description={text.form.editDescription}
        breadcrumb={
          <AnchorLink inherit to="/agents/$agentId" params={{ agentId }}>
            {agent.data ? <Foreign max={80}>{agent.data.name}</Foreign> : text.agent}
          </AnchorLink>
        }
      />
      {error && !isThere ? (
        <ErrorState error={error} onRetry={() => Promise.all([agent.refetch(), playbooks.refetch()])} />
      ) : null}
      {!error && !isThere ? <LoadingState lines={8} /> : null}
      {agent.data && playbooks.data ? (
        <AgentForm
          key={agentId}
          initial={draftOf(agent.data, playbooks.data)}
          agent={agent.data}
          playbooks={playbooks.data}
          save={(input) => updateAgent(agentId, input)}
        />
      ) : null}
    </>
  )
}
