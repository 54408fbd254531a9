import { Button, Card, Code, Group, ScrollArea, Stack, Title } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useOperation } from '../api/operation.ts'
import type { HookBody } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { formatMoment } from '../ui/format.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState, messageOf } from '../ui/states.tsx'
import { Foreign, None } from '../ui/text.tsx'
import { BodyState, ContactOf } from './hook-page.tsx'
import { bodyQuery } from './hook-queries.ts'
import { text } from './text.ts'

const route = getRouteApi('/shell/hooks/$hookId/bodies/$bodyId')

/** A body that a hook has received, and its outcome. */
export function BodyPage() {
  const { hookId, bodyId } = route.useParams()
  const { data, error, refetch } = useQuery(bodyQuery(hookId, bodyId))
  const breadcrumb = (
    <AnchorLink inherit to="/hooks/$hookId" params={{ hookId }}>
      {text.one.title}
    </AnchorLink>
  )
  if (!data) {
    return (
      <>
        <PageHeader title={text.body.title} breadcrumb={breadcrumb} />
        {error ? <ErrorState error={error} onRetry={refetch} /> : <LoadingState lines={8} />}
      </>
    )
  }
  const content = JSON.stringify(data.data, null, 2)
  return (
    <>
      <PageHeader title={text.body.title} breadcrumb={breadcrumb} actions={<Actions body={data.body} />} />
      <Stack gap="md">
        <Card>
          <Facts facts={factsOf(data.body)} />
        </Card>
        <Card>
          <Group justify="space-between" mb="xs">
            <Title order={2} size="h5">
              {text.body.content}
            </Title>
            <CopyButton value={content} label={text.body.copy} withText />
          </Group>
          <ScrollArea.Autosize
            mah={640}
            viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': text.body.contentLabel }}
          >
            <Code block style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
              {content}
            </Code>
          </ScrollArea.Autosize>
        </Card>
      </Stack>
    </>
  )
}

function Actions({ body }: { body: HookBody }) {
  const { hook_id: hookId, body_id: bodyId } = body
  const running = useOperation('runHookBody', {
    onDone: ({ body: { state } }) =>
      notifications.show({ color: state === 'failed' ? 'red' : 'green', message: text.body.ran[state] }),
    onError: (error) => notifications.show({ color: 'red', message: messageOf(error) }),
  })
  if (!useMay('settings:write')) return null
  return (
    <>
      <Button
        leftSection={<IconRefresh size={16} aria-hidden />}
        loading={running.isPending}
        onClick={() => running.mutate({ hook_id: hookId, body_id: bodyId })}
      >
        {text.body.run}
      </Button>
      <ButtonLink variant="default" to="/hooks/$hookId/mapping" params={{ hookId }} search={{ body: bodyId }}>
        {text.body.useAsSample}
      </ButtonLink>
    </>
  )
}

function factsOf(body: HookBody): [string, ReactNode][] {
  const { event, event_id: eventId, company_id: companyId, error, warnings } = body
  return [
    [text.body.received, formatMoment(body.received_at)],
    [text.body.outcome, <BodyState key="state" state={body.state} />],
    ...(error === null
      ? []
      : [[text.body.reason, <Foreign key="error">{error.message}</Foreign>] as [string, ReactNode]]),
    ...(warnings.length === 0
      ? []
      : [[text.body.warnings, <Foreign key="warnings">{warnings.join(' ')}</Foreign>] as [string, ReactNode]]),
    [
      text.body.event,
      eventId === null ? (
        <None key="event" />
      ) : (
        <AnchorLink key="event" inherit to="/events/$eventId" params={{ eventId }}>
          <Foreign max={80}>{event ?? eventId}</Foreign>
        </AnchorLink>
      ),
    ],
    [text.body.contact, <ContactOf key="contact" body={body} />],
    [
      text.body.company,
      companyId === null ? (
        <None key="company" />
      ) : (
        <AnchorLink key="company" inherit to="/companies/$companyId" params={{ companyId }}>
          {text.body.company}
        </AnchorLink>
      ),
    ],
    [text.body.size, text.bodies.bytes(body.size_bytes)],
  ]
}
