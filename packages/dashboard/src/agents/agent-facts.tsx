import { Anchor, Badge, Card, Code, Group, ScrollArea, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Agent, playbooksQuery } from '../api/agents.ts'
import { identityName, identityQuery } from '../api/identities.ts'
import { propertiesQuery } from '../api/properties.ts'
import { segmentQuery } from '../api/segments.ts'
import { filterWords } from '../segments/words.ts'
import { Foreign, None } from '../ui/text.tsx'
import { formatCost } from './run-state.tsx'
import { ScheduleWords } from './schedule-words.tsx'

/** An agent's settings. */
export function AgentFacts({ agent }: { agent: Agent }) {
  const { playbook, monitoring, llm_config: llm, capabilities } = agent
  const { data: playbooks } = useQuery(playbooksQuery)
  const template = playbooks?.templates.find(({ name }) => name === agent.playbook_template)
  const text = playbook.playbook_md ?? template?.prompt
  const model = [llm.provider, llm.model].filter(Boolean).join(' · ')
  return (
    <Card>
      <Title order={2} size="h5" mb="sm">
        How it works
      </Title>
      <Stack gap="sm" component="dl" m={0}>
        <Fact name="Playbook">
          {agent.playbook_template === null ? 'Its own' : (template?.title ?? agent.playbook_template)}
          {agent.playbook_template !== null && playbook.playbook_md !== undefined ? ', changed' : ''}
        </Fact>
        <Fact name="May propose">
          {capabilities.length === 0 ? (
            'nothing'
          ) : (
            <Group gap={4}>
              {capabilities.map((name) => (
                <Badge key={name} color="gray">
                  {name.replaceAll('_', ' ')}
                </Badge>
              ))}
            </Group>
          )}
        </Fact>
        <Fact name="Approval">
          {playbook.require_approval === false ? 'E-mails and messages are sent without approval' : 'A person approves'}
        </Fact>
        <Fact name="Identity">
          <IdentityLink identityId={agent.identity_id} />
        </Fact>
        <Fact name="Watches">
          <Audience filter={monitoring.filter} />
        </Fact>
        <Fact name="Runs">
          {monitoring.schedule_cron === undefined ? (
            'manually'
          ) : (
            <ScheduleWords cron={monitoring.schedule_cron} timeZone={monitoring.time_zone} />
          )}
          , at most {monitoring.max_contacts_per_run} contacts
        </Fact>
        <Fact name="Cost cap per run">
          {playbook.max_cost_usd_per_run ? formatCost(playbook.max_cost_usd_per_run) : <None />}
        </Fact>
        <Fact name="Model">{model === '' ? 'service default' : <Foreign max={120}>{model}</Foreign>}</Fact>
      </Stack>
      {text === undefined ? null : (
        <>
          <Title order={3} size="h6" mt="md" mb={4}>
            Instructions
          </Title>
          <ScrollArea.Autosize mah={320} viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': 'Instructions' }}>
            <Code block style={{ whiteSpace: 'pre-wrap' }} dir="auto">
              {text}
            </Code>
          </ScrollArea.Autosize>
        </>
      )}
    </Card>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text component="dt" size="xs" c="dimmed">
        {name}
      </Text>
      <Text component="dd" size="sm" m={0}>
        {children}
      </Text>
    </div>
  )
}

function IdentityLink({ identityId }: { identityId: string | null }) {
  if (identityId === null) return <>none</>
  return <NamedIdentity identityId={identityId} />
}

function NamedIdentity({ identityId }: { identityId: string }) {
  const { data: identity } = useQuery(identityQuery(identityId))
  return (
    <Anchor inherit renderRoot={(props) => <Link to="/identities/$identityId" params={{ identityId }} {...props} />}>
      <Foreign max={80}>{identity ? identityName(identity) : 'The identity'}</Foreign>
    </Anchor>
  )
}

function Audience({ filter }: { filter: Agent['monitoring']['filter'] }) {
  const { data } = useQuery(propertiesQuery('contacts'))
  if (filter === undefined) return <>nobody; contacts are chosen for each run</>
  if ('segment_id' in filter) return <SegmentLink segmentId={filter.segment_id} />
  const labels = new Map(data?.properties.map(({ name, label }) => [name, label]))
  return <Foreign max={600}>{filterWords(filter, labels)}</Foreign>
}

function SegmentLink({ segmentId }: { segmentId: string }) {
  const { data, error } = useQuery({ ...segmentQuery(segmentId), retry: false })
  if (error) return <>a segment that has been deleted</>
  return (
    <Anchor inherit renderRoot={(props) => <Link to="/segments/$segmentId" params={{ segmentId }} {...props} />}>
      <Foreign max={80}>{data?.name ?? 'A segment'}</Foreign>
    </Anchor>
  )
}
