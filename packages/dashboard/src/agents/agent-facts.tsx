import { Badge, Card, Code, Group, ScrollArea, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Agent, CreateAgentInput } from '../api/types.ts'
import { useFilterNames } from '../filters/fields.ts'
import { filterWords } from '../filters/words.ts'
import { identityName } from '../identities/identity-name.ts'
import { AnchorLink } from '../ui/link.tsx'
import { Foreign } from '../ui/text.tsx'
import { formatCost } from './run-state.tsx'
import { ScheduleWords } from './schedule-words.tsx'
import { text } from './text.ts'
import { TriggerWords } from './trigger-words.tsx'

/** The settings of an agent: a stored one, or one that is about to be created. */
type Facts = Pick<
  CreateAgentInput,
  'playbook_template' | 'playbook' | 'identity_id' | 'monitoring' | 'llm_config' | 'goal'
> & {
  capabilities?: readonly string[]
}

/** An agent's settings. */
export function AgentFacts({ agent }: { agent: Facts }) {
  const { playbook = {}, monitoring = {}, llm_config: llm = {}, capabilities = [] } = agent
  const { schedule_cron: cron, max_contacts_per_run: most, filter } = monitoring
  const triggers = monitoring.triggers ?? []
  const { data } = useQuery(queryOf('listPlaybooks'))
  const template = data?.playbooks.templates.find(({ name }) => name === agent.playbook_template)
  const instructions = playbook.playbook_md ?? template?.prompt
  const model = [llm.provider, llm.model].filter(Boolean).join(' · ')
  return (
    <Card>
      <Title order={2} size="h5" mb="sm">
        {text.facts.title}
      </Title>
      <Stack gap="sm" component="dl" m={0}>
        <Fact name={text.facts.template}>
          {agent.playbook_template ? (template?.title ?? agent.playbook_template) : text.facts.custom}
          {agent.playbook_template && playbook.playbook_md ? text.facts.changed : ''}
        </Fact>
        <Fact name={text.facts.proposes}>
          {capabilities.length === 0 ? (
            text.facts.nothing
          ) : (
            <Group gap={4}>
              {capabilities.map((name) => (
                <Badge key={name} color="gray">
                  {text.allowed.capabilities[name] ?? name}
                </Badge>
              ))}
            </Group>
          )}
        </Fact>
        <Fact name={text.facts.approval}>
          {playbook.require_approval === false ? text.facts.automatic : text.facts.byPerson}
        </Fact>
        <Fact name={text.facts.identity}>
          <IdentityLink identityId={agent.identity_id ?? null} />
        </Fact>
        <Fact name={text.facts.audience}>
          <Audience filter={filter as Agent['monitoring']['filter']} />
        </Fact>
        <Fact name={text.facts.runs}>
          {cron ? (
            <ScheduleWords cron={cron} timeZone={monitoring.time_zone ?? undefined} />
          ) : triggers.length > 0 ? (
            text.facts.onTriggers
          ) : (
            text.facts.manually
          )}
          {most ? text.facts.atMost(most) : ''}
        </Fact>
        {triggers.length === 0 ? null : (
          <Fact name={text.facts.triggers}>
            {triggers.map((trigger) => (
              <div key={JSON.stringify(trigger)}>
                <TriggerWords trigger={trigger} />
              </div>
            ))}
            <Text span size="sm" c="dimmed">
              {text.facts.cooldown(monitoring.cooldown_hours ?? 24)}
            </Text>
          </Fact>
        )}
        {agent.goal ? (
          <Fact name={text.facts.goal}>
            <TriggerWords trigger={agent.goal} />
          </Fact>
        ) : null}
        <Fact name={text.facts.maxCost}>
          {playbook.max_cost_usd_per_run ? formatCost(playbook.max_cost_usd_per_run) : text.facts.noCap}
        </Fact>
        <Fact name={text.facts.model}>
          {model === '' ? text.facts.defaultModel : <Foreign max={120}>{model}</Foreign>}
        </Fact>
      </Stack>
      {instructions === undefined ? null : (
        <>
          <Title order={3} size="h6" mt="md" mb={4}>
            {text.facts.instructions}
          </Title>
          <ScrollArea.Autosize
            mah={320}
            viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': text.facts.instructions }}
          >
            <Code block style={{ whiteSpace: 'pre-wrap' }} dir="auto">
              {instructions}
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
  if (identityId === null) return <>{text.facts.noIdentity}</>
  return <NamedIdentity identityId={identityId} />
}

function NamedIdentity({ identityId }: { identityId: string }) {
  const { data } = useQuery(queryOf('getIdentity', { identity_id: identityId }))
  return (
    <AnchorLink inherit to="/identities/$identityId" params={{ identityId }}>
      <Foreign max={80}>{data ? identityName(data.identity) : text.facts.theIdentity}</Foreign>
    </AnchorLink>
  )
}

function Audience({ filter }: { filter: Agent['monitoring']['filter'] }) {
  const names = useFilterNames('contacts', [filter])
  if (!filter) return <>{text.facts.nobody}</>
  if ('segment_id' in filter) return <SegmentLink segmentId={filter.segment_id} />
  return <Foreign max={600}>{filterWords(filter, names)}</Foreign>
}

function SegmentLink({ segmentId }: { segmentId: string }) {
  const { data, error } = useQuery({ ...queryOf('getSegment', { segment_id: segmentId }), retry: false })
  if (error) return <>{text.facts.deletedSegment}</>
  return (
    <AnchorLink inherit to="/segments/$segmentId" params={{ segmentId }}>
      <Foreign max={80}>{data?.segment.name ?? text.facts.segment}</Foreign>
    </AnchorLink>
  )
}
