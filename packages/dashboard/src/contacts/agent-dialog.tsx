import { NativeSelect, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { RunDialog } from '../agents/run-dialog.tsx'
import { queryOf } from '../api/operation.ts'
import type { Contact } from '../api/types.ts'
import { contactName } from '../records/contact-name.ts'
import { text } from './text.ts'

const AGENTS_MAX = 100

/** Runs an agent for one contact. */
export function AgentDialog({ contact, onClose }: { contact: Contact; onClose: () => void }) {
  const { data } = useQuery(queryOf('listAgents', { limit: AGENTS_MAX }))
  const [chosen, setChosen] = useState('')
  const agents = data?.agents ?? []
  const agentId = chosen || agents[0]?.agent_id
  const title = text.agent.title(contactName(contact).slice(0, 80))
  return (
    <RunDialog title={title} agentId={agentId} contactIds={[contact.contact_id]} onClose={onClose}>
      <Text size="sm">{data && agents.length === 0 ? text.agent.none : text.agent.explanation}</Text>
      {agents.length > 0 ? (
        <NativeSelect
          label={text.agent.label}
          data-autofocus
          value={agentId ?? ''}
          onChange={(event) => setChosen(event.currentTarget.value)}
          data={agents.map(({ agent_id, name }) => ({ value: agent_id, label: name.slice(0, 100) }))}
        />
      ) : null}
    </RunDialog>
  )
}
