import { Button, Card, Grid, Group, List, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Identity, IdentityConnections } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { PendingPage } from '../ui/page-states.tsx'
import { ErrorState, LoadingState, messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { upTo } from '../ui/up-to.ts'
import { EmailAccountCard } from './email-account-card.tsx'
import { identityName } from './identity-name.ts'
import { SocialCard } from './social-card.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/identities/$identityId')

/** One identity: its name, mailbox, social profile, and the agents that use it. */
export function IdentityPage() {
  const { identityId } = route.useParams()
  const { data, error, refetch } = useQuery(queryOf('getIdentity', { identity_id: identityId }))
  const reading = useQuery(queryOf('getIdentityConnections', { identity_id: identityId }))
  const connections = reading.data?.connections
  const breadcrumb = (
    <AnchorLink inherit to="/identities">
      {text.title}
    </AnchorLink>
  )
  const mayWrite = useMay('identities:write')
  if (!data) return <PendingPage title={text.one} breadcrumb={breadcrumb} error={error} onRetry={refetch} />
  const { identity } = data
  return (
    <>
      <PageHeader
        title={<Foreign max={200}>{identityName(identity)}</Foreign>}
        documentTitle={identityName(identity)}
        description={<Foreign max={200}>{identity.role}</Foreign>}
        breadcrumb={breadcrumb}
        actions={mayWrite ? <Delete identity={identity} connections={connections} /> : null}
      />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="md">
            <Person key={identity.updated_at} identity={identity} mayWrite={mayWrite} />
            <Agents connections={connections} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 7 }}>
          {reading.error && !connections ? <ErrorState error={reading.error} onRetry={reading.refetch} /> : null}
          {!reading.error && !connections ? <LoadingState lines={8} /> : null}
          {connections ? (
            <Stack gap="md">
              <EmailAccountCard identity={identity} account={connections.email_account} mayWrite={mayWrite} />
              <SocialCard identity={identity} connections={connections} mayWrite={mayWrite} />
            </Stack>
          ) : null}
        </Grid.Col>
      </Grid>
    </>
  )
}

function Delete({ identity, connections }: { identity: Identity; connections: IdentityConnections | undefined }) {
  const navigate = useNavigate()
  const agents = connections?.agents ?? []
  const remove = useOperation('deleteIdentity', { onDone: () => navigate({ to: '/identities' }) })
  return (
    <ConfirmButton
      leftSection={<IconTrash size={16} aria-hidden />}
      title={text.page.deleteTitle}
      explanation={
        <Stack gap="xs">
          <Text size="sm">{text.page.deleteExplanation}</Text>
          {agents.length > 0 ? (
            <div>
              <Text size="sm">{text.page.usedBy(agents.length)}</Text>
              <List size="sm" mt={4}>
                {agents.slice(0, 10).map(({ agent_id, name }) => (
                  <List.Item key={agent_id}>
                    <Foreign max={80}>{name}</Foreign>
                  </List.Item>
                ))}
              </List>
              {agents.length > 10 ? <Text size="sm">{text.page.more(agents.length - 10)}</Text> : null}
            </div>
          ) : (
            <Text size="sm">{text.page.unused}</Text>
          )}
        </Stack>
      }
      confirmLabel={text.page.deleteConfirm}
      onConfirm={() => remove.mutateAsync({ identity_id: identity.identity_id })}
    >
      {text.page.delete}
    </ConfirmButton>
  )
}

function Person({ identity, mayWrite }: { identity: Identity; mayWrite: boolean }) {
  const [draft, setDraft] = useState({
    firstName: identity.firstName,
    lastName: identity.lastName,
    jobTitle: identity.jobTitle ?? '',
  })
  const saving = useOperation('updateIdentity')
  const isChanged = (['firstName', 'lastName', 'jobTitle'] as const).some(
    (name) => draft[name].trim() !== (identity[name] ?? ''),
  )
  const isWhole = draft.firstName.trim() && draft.lastName.trim()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const changed = Object.entries(draft).filter(([name, value]) => value.trim() !== (identity[name as 'role'] ?? ''))
    saving.mutate({ identity_id: identity.identity_id, ...Object.fromEntries(changed) })
  }
  const field = (name: keyof typeof draft, label: string, isRequired: boolean) => (
    <TextInput
      label={label}
      required={isRequired && mayWrite}
      readOnly={!mayWrite || saving.isPending}
      {...upTo(200)}
      value={draft[name]}
      onChange={({ currentTarget: { value } }) => setDraft((before) => ({ ...before, [name]: value }))}
    />
  )
  return (
    <Card component="form" onSubmit={submit}>
      <Title order={2} size="h5" mb="sm">
        {text.page.person}
      </Title>
      <Stack gap="sm">
        {field('firstName', text.fields.firstName, true)}
        {field('lastName', text.fields.lastName, true)}
        {field('jobTitle', text.fields.jobTitle, false)}
        {saving.isError ? (
          <Text size="sm" c="red" role="alert">
            {messageOf(saving.error)}
          </Text>
        ) : null}
        {mayWrite ? (
          <Group gap="xs">
            <Button type="submit" loading={saving.isPending} disabled={!isChanged || !isWhole}>
              {text.page.save}
            </Button>
          </Group>
        ) : null}
      </Stack>
    </Card>
  )
}

function Agents({ connections }: { connections: IdentityConnections | undefined }) {
  return (
    <Card>
      <Title order={2} size="h5" mb="xs">
        {text.page.agents}
      </Title>
      {connections && connections.agents.length === 0 ? (
        <Text size="sm" c="dimmed">
          {text.page.noAgents}
        </Text>
      ) : null}
      <List size="sm" listStyleType="none" spacing={4}>
        {connections?.agents.slice(0, 20).map(({ agent_id: agentId, name, enabled }) => (
          <List.Item key={agentId}>
            <AnchorLink inherit to="/agents/$agentId" params={{ agentId }}>
              <Foreign max={80}>{name}</Foreign>
            </AnchorLink>
            {enabled ? '' : text.page.disabled}
          </List.Item>
        ))}
      </List>
    </Card>
  )
}
