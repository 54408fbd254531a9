import { Alert, Button, Card, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Connection, Connector } from '../api/types.ts'
import { SignInButton } from '../providers/sign-in-button.tsx'
import { useMay } from '../session/may.ts'
import { Facts } from '../ui/facts.tsx'
import { formatAgo, formatMoment, formatNumber } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { PendingPage } from '../ui/page-states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { ConnectionActions } from './connection-actions.tsx'
import { Errors, Objects, Runs } from './connection-tables.tsx'
import { fieldWords, labelOf } from './connection-words.ts'
import { NextPull, pollingMs, State } from './connections-page.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/connections/$connectionId')

/** One connected system: its state with possible actions, its progress, its runs and its failed records. */
export function ConnectionPage() {
  const { connectionId } = route.useParams()
  const { data, error, refetch } = useQuery({
    ...queryOf('getConnection', { connection_id: connectionId }),
    refetchInterval: ({ state }) => pollingMs(state.data && [state.data.connection]),
  })
  const connectors = useQuery(queryOf('listConnectors')).data?.connectors
  const breadcrumb = (
    <AnchorLink inherit to="/connections">
      {text.title}
    </AnchorLink>
  )
  if (!data) return <PendingPage title={text.one.title} breadcrumb={breadcrumb} error={error} onRetry={refetch} />
  const { connection } = data
  const label = labelOf(connection, connectors)
  const connector = connectors?.find(({ name }) => name === connection.connector)
  return (
    <>
      <PageHeader
        title={label}
        description={<Foreign max={200}>{connection.account}</Foreign>}
        breadcrumb={breadcrumb}
        actions={<ConnectionActions connection={connection} connector={connector} label={label} />}
      />
      <Stack gap="lg">
        <Problem connection={connection} connector={connector} label={label} />
        <Card>
          <Facts facts={factsOf(connection)} />
        </Card>
        <Objects connection={connection} />
        <Runs connection={connection} />
        <Errors connection={connection} />
      </Stack>
    </>
  )
}

function factsOf(connection: Connection): [string, ReactNode][] {
  const { source, settings, last_run: run, created_at } = connection
  return [
    [text.list.state, <State key="state" {...connection} />],
    [text.one.nextPull, <NextPull key="next" {...connection} />],
    [text.one.lastRun, run === null ? <None key="run" /> : <Moment key="run" at={run.finished_at ?? run.started_at} />],
    [text.one.source, <Foreign key="source">{source}</Foreign>],
    ...Object.entries(settings).map(([name, value]): [string, ReactNode] => [
      fieldWords(name),
      <Foreign key={name}>{String(value)}</Foreign>,
    ]),
    ...(connection.write_back === null ? [] : writeBackFacts(connection.write_back)),
    ...(connection.activities === null ? [] : activityFacts(connection.activities)),
    [text.one.connected, formatMoment(created_at)],
  ]
}

function writeBackFacts(writeBack: NonNullable<Connection['write_back']>): [string, ReactNode][] {
  const { properties, create_missing, waiting, error } = writeBack
  return [
    [text.one.writesBack, <Foreign key="properties">{properties.map(({ property }) => property).join(', ')}</Foreign>],
    [text.one.createsMissing, create_missing ? text.one.isCreated : text.one.isNotCreated],
    [text.one.writesWaiting, formatNumber(waiting)],
    ...(error === null ? [] : [[text.one.writeError, <Foreign key="error">{error}</Foreign>] as [string, ReactNode]]),
  ]
}

function activityFacts({ waiting, error }: NonNullable<Connection['activities']>): [string, ReactNode][] {
  return [
    [text.one.storesActivities, text.one.activitiesStored],
    [text.one.activitiesWaiting, formatNumber(waiting)],
    ...(error === null
      ? []
      : [[text.one.activitiesError, <Foreign key="activities-error">{error}</Foreign>] as [string, ReactNode]]),
  ]
}

interface ProblemProps {
  connection: Connection
  connector: Connector | undefined
  label: string
}

function titleOf(state: Connection['state']): string {
  if (state === 'signed_out') return text.one.signedOutTitle
  // A rate limit, or a restart after a failure: the error says which.
  return state === 'waiting' ? text.one.waitingTitle : text.one.failedTitle
}

/** Why nothing is pulled, and what to do about it. */
function Problem({ connection, connector, label }: ProblemProps) {
  const { state, error, next_pull_at: next, connection_id: connectionId } = connection
  const mayChange = useMay('settings:write')
  const [isEditing, editing] = useDisclosure()
  const provider = connector?.oauth_provider ?? null
  if (state === 'paused') {
    return (
      <Alert color="gray" title={text.one.pausedTitle}>
        {text.one.paused}
      </Alert>
    )
  }
  if (error === null) return null
  const isSignedOut = state === 'signed_out'
  return (
    <Alert color={state === 'waiting' ? 'yellow' : 'red'} role="alert" title={titleOf(state)}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Foreign max={600}>{error}</Foreign>
        </Text>
        <Text size="sm">
          {isSignedOut ? text.one.signedOut : next === null ? null : text.one.repeated(formatAgo(next))}
        </Text>
        {isSignedOut && !mayChange ? <Text size="sm">{text.one.askAdmin}</Text> : null}
        {isSignedOut && mayChange && connector ? (
          <Group gap="xs">
            {provider ? (
              <SignInButton provider={provider} purpose={{ kind: 'connection', connection_id: connectionId }}>
                {text.create.signIn(label)}
              </SignInButton>
            ) : null}
            {connector.credentials.length > 0 ? (
              <Button variant="default" onClick={editing.open}>
                {text.one.signInAgain}
              </Button>
            ) : null}
            {isEditing ? <EditDialog {...{ connection, connector, label, onClose: editing.close }} /> : null}
          </Group>
        ) : null}
      </Stack>
    </Alert>
  )
}
