import { Alert, Badge, Card, Stack, Text, Title } from '@mantine/core'
import { IconAlertTriangle, IconInbox } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Hook, HookBody } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import type { Column } from '../ui/data-table.tsx'
import { Facts } from '../ui/facts.tsx'
import { formatMoment } from '../ui/format.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { List } from '../ui/list-page.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { HookActions } from './hook-actions.tsx'
import { bodiesQuery, hookQuery } from './hook-queries.ts'
import { HookUrl } from './hook-url.tsx'
import { HookState, needsSecret } from './hooks-page.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/hooks/$hookId')
/** Bodies arrive while the page is open. */
const REFRESH_MS = 4_000

/** One hook: its settings, and its last bodies. */
export function HookPage() {
  const { hookId } = route.useParams()
  const { data, error, refetch } = useQuery({ ...hookQuery(hookId), refetchInterval: REFRESH_MS })
  const hook = data?.hook
  const breadcrumb = (
    <AnchorLink inherit to="/hooks">
      {text.title}
    </AnchorLink>
  )
  if (!hook) {
    return (
      <>
        <PageHeader title={text.one.title} breadcrumb={breadcrumb} />
        {error ? <ErrorState error={error} onRetry={refetch} /> : <LoadingState lines={8} />}
      </>
    )
  }
  return (
    <>
      <PageHeader
        title={<Foreign max={200}>{hook.name}</Foreign>}
        documentTitle={hook.name}
        breadcrumb={breadcrumb}
        actions={<HookActions hook={hook} />}
      />
      <Stack gap="md">
        <NextStep hook={hook} />
        <HookUrl hook={hook} />
        <Bodies hookId={hookId} />
        <Settings hook={hook} />
      </Stack>
    </>
  )
}

/** What keeps bodies from being recorded. */
function NextStep({ hook }: { hook: Hook }) {
  const { hook_id: hookId, kept_bodies: kept } = hook
  const mayWrite = useMay('settings:write')
  const { event, contact, company } = hook.mapping
  if (needsSecret(hook)) {
    return (
      <Alert color="orange" icon={<IconAlertTriangle aria-hidden />}>
        {text.one.needsSecret}
      </Alert>
    )
  }
  if (event || contact || company) return null
  return (
    <Alert
      color={kept > 0 ? 'orange' : 'blue'}
      icon={kept > 0 ? <IconAlertTriangle aria-hidden /> : <IconInbox aria-hidden />}
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{kept > 0 ? text.one.needsMapping(kept) : text.one.waits}</Text>
        {mayWrite && kept > 0 ? (
          <ButtonLink size="xs" to="/hooks/$hookId/mapping" params={{ hookId }}>
            {text.one.checkMapping}
          </ButtonLink>
        ) : null}
      </Stack>
    </Alert>
  )
}

function Settings({ hook }: { hook: Hook }) {
  const parts = (['event', 'contact', 'company'] as const).filter((part) => hook.mapping[part] !== undefined)
  const mapped = parts.map((part) => text.one.parts[part]).join(', ')
  const signature = hook.has_signing_secret && hook.signature_header !== null
  const facts: [string, ReactNode][] = [
    [text.one.status, <HookState key="state" hook={hook} />],
    [text.one.kind, text.kinds[hook.kind]],
    [text.one.source, hook.source],
    [text.one.signature, signature ? text.one.signedIn(hook.signature_header ?? '') : text.one.unsigned],
    [text.one.mapping, mapped === '' ? text.one.notMapped : mapped],
    ...(hook.previous_token_until === null
      ? []
      : [[text.one.previousToken, formatMoment(hook.previous_token_until)] as [string, ReactNode]]),
    [text.one.created, formatMoment(hook.created_at)],
  ]
  return (
    <Card>
      <Facts facts={facts} />
    </Card>
  )
}

function Bodies({ hookId }: { hookId: string }) {
  return (
    <section>
      <Title order={2} size="h4" mb="sm">
        {text.bodies.title}
      </Title>
      <List
        label={text.bodies.title}
        opensRows
        columns={COLUMNS}
        query={useQuery({ ...bodiesQuery(hookId), refetchInterval: REFRESH_MS })}
        rowsOf={({ bodies }) => bodies}
        rowKey={({ body_id }) => body_id}
        empty={{ icon: IconInbox, title: text.bodies.empty, hint: text.bodies.emptyExplanation }}
      />
    </section>
  )
}

const COLUMNS: Column<HookBody>[] = [
  {
    id: 'received_at',
    header: text.bodies.when,
    cell: ({ received_at: at, hook_id: hookId, body_id: bodyId }) => (
      <AnchorLink inherit fw={550} to="/hooks/$hookId/bodies/$bodyId" params={{ hookId, bodyId }}>
        <Moment at={at} />
      </AnchorLink>
    ),
  },
  { id: 'state', header: text.bodies.state, cell: ({ state }) => <BodyState state={state} /> },
  {
    id: 'event',
    header: text.bodies.event,
    visibleFrom: 'sm',
    cell: ({ event }) => (event === null ? <None /> : <Foreign max={60}>{event}</Foreign>),
  },
  { id: 'contact', header: text.bodies.contact, visibleFrom: 'md', cell: (body) => <ContactOf body={body} /> },
  {
    id: 'error',
    header: text.bodies.error,
    cell: ({ error }) => (error === null ? <None /> : <Foreign max={140}>{error.message}</Foreign>),
  },
]

const COLORS = { pending: 'yellow', recorded: 'green', skipped: 'gray', failed: 'red' } as const

export function BodyState({ state }: { state: HookBody['state'] }) {
  return <Badge color={COLORS[state]}>{text.bodyStates[state]}</Badge>
}

export function ContactOf({ body: { contact_id: contactId, contact_status: status } }: { body: HookBody }) {
  if (contactId === null) return <None />
  return (
    <AnchorLink inherit to="/contacts/$contactId" params={{ contactId }}>
      {status === null ? text.bodies.contact : text.bodies.contactStates[status]}
    </AnchorLink>
  )
}
