import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
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
  const reading = useQuery(queryOf('getAgent', { agent_id: agentId }))
  const playbooks = useQuery(queryOf('listPlaybooks'))
  const error = reading.error ?? playbooks.error
  const agent = reading.data?.agent
  const isThere = agent !== undefined && playbooks.data !== undefined
  return (
    <>
      <PageHeader
        title={text.form.editTitle}
        description={text.form.editDescription}
        breadcrumb={
          <AnchorLink inherit to="/agents/$agentId" params={{ agentId }}>
            {agent ? <Foreign max={80}>{agent.name}</Foreign> : text.agent}
          </AnchorLink>
        }
      />
      {error && !isThere ? (
        <ErrorState error={error} onRetry={() => Promise.all([reading.refetch(), playbooks.refetch()])} />
      ) : null}
      {!error && !isThere ? <LoadingState lines={8} /> : null}
      {agent && playbooks.data ? (
        <AgentForm
          key={agentId}
          initial={draftOf(agent, playbooks.data.playbooks)}
          agent={agent}
          playbooks={playbooks.data.playbooks}
        />
      ) : null}
    </>
  )
}
