import { Badge, Card, Group, NativeSelect, Stack, Title } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Webhook, WebhookDelivery, WebhookHealth } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import type { Column } from '../ui/data-table.tsx'
import { Facts } from '../ui/facts.tsx'
import { formatMoment, formatNumber } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { List } from '../ui/list-page.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { PendingPage } from '../ui/page-states.tsx'
import { ErrorState } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { WhereWords } from './conditions.tsx'
import { ResendDeliveries } from './resend-deliveries.tsx'
import { isOfSegments, SegmentName } from './segment-field.tsx'
import { text } from './text.ts'
import { WebhookActions } from './webhook-actions.tsx'
import { State } from './webhooks-page.tsx'

const route = getRouteApi('/shell/webhooks/$webhookId')
/** Deliveries arrive while the page is open. */
const REFRESH_MS = 4_000
/** Rows per page. */
const DELIVERIES_LENGTH = 20

/** One subscription: its settings, its health and its latest deliveries. */
export function WebhookPage() {
  const { webhookId } = route.useParams()
  const { data, error, refetch } = useQuery(queryOf('getWebhook', { subscription_id: webhookId }))
  const breadcrumb = (
    <AnchorLink inherit to="/webhooks">
      {text.title}
    </AnchorLink>
  )
  if (!data) return <PendingPage title={text.one.title} breadcrumb={breadcrumb} error={error} onRetry={refetch} />
  const { webhook } = data
  return (
    <>
      <PageHeader
        title={<Foreign max={200}>{webhook.event}</Foreign>}
        documentTitle={webhook.event}
        description={<Foreign max={300}>{webhook.url}</Foreign>}
        breadcrumb={breadcrumb}
        actions={<WebhookActions webhook={webhook} />}
      />
      <Stack gap="md">
        <Settings webhook={webhook} />
        <Deliveries webhookId={webhookId} />
      </Stack>
    </>
  )
}

function Settings({ webhook }: { webhook: Webhook }) {
  const { data, error, refetch } = useQuery({
    ...queryOf('listWebhookHealth', { limit: 200 }),
    refetchInterval: REFRESH_MS,
  })
  const health = data?.health.find(({ subscription_id: id }) => id === webhook.subscription_id)
  const count = (number: number | undefined) => (data ? formatNumber(number ?? 0) : <None />)
  const { url_filter: filter, header_names: headers } = webhook
  const facts: [string, ReactNode][] = [
    [text.one.status, <State key="state" webhook={webhook} health={health} />],
    [text.one.delivered, count(health?.succeeded)],
    [text.one.waiting, count(health?.pending)],
    [text.one.failed, count(health?.failed)],
    [text.one.latest, latestWords(health)],
    ...(isOfSegments(webhook.event)
      ? [
          [
            text.segment.label,
            webhook.segment_id === null ? (
              text.segment.all
            ) : (
              <SegmentName key="segment" segmentId={webhook.segment_id} />
            ),
          ] as [string, ReactNode],
        ]
      : []),
    [text.one.urlFilter, filter === null ? text.one.allUrls : <Foreign key="filter">{filterWords(filter)}</Foreign>],
    [
      text.where.label,
      webhook.where === null ? <None key="where" /> : <WhereWords key="where" where={webhook.where} />,
    ],
    [
      text.one.headers,
      headers.length === 0 ? text.one.noHeaders : <Foreign key="headers">{headers.join(', ')}</Foreign>,
    ],
    [text.one.format, text.formats[webhook.format]],
    ...(webhook.format === 'slack'
      ? [
          [
            text.one.template,
            webhook.template === null ? text.one.defaultText : <Foreign key="text">{webhook.template}</Foreign>,
          ] as [string, ReactNode],
        ]
      : []),
    [text.one.created, formatMoment(webhook.created_at)],
    ...(webhook.previous_secret_until === null
      ? []
      : [[text.one.previousSecret, formatMoment(webhook.previous_secret_until)] as [string, ReactNode]]),
  ]
  return (
    <Card>
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      <Facts facts={facts} />
    </Card>
  )
}

function Deliveries({ webhookId }: { webhookId: string }) {
  const { page = 1, status } = route.useSearch()
  const navigate = route.useNavigate()
  const mayResend = useMay('webhooks:write')
  const deliveries = useQuery({
    ...queryOf('listWebhookDeliveries', { subscription_id: webhookId, page, limit: DELIVERIES_LENGTH, status }),
    refetchInterval: REFRESH_MS,
  })
  return (
    <section>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h4">
          {text.deliveries.title}
        </Title>
        <Group gap="xs">
          <NativeSelect
            aria-label={text.deliveries.statusFilter}
            value={status ?? ''}
            onChange={({ currentTarget: { value } }) =>
              navigate({ search: value === '' ? {} : { status: value as WebhookDelivery['status'] }, replace: true })
            }
            data={[
              { value: '', label: text.deliveries.all },
              ...Object.entries(text.deliveries.filters).map(([each, label]) => ({ value: each, label })),
            ]}
          />
          {mayResend ? <ResendDeliveries webhookId={webhookId} /> : null}
        </Group>
      </Group>
      <List
        label={text.deliveries.title}
        query={deliveries}
        rowsOf={(data) => data.deliveries}
        rowKey={({ delivery_id }) => delivery_id}
        columns={DELIVERY_COLUMNS}
        empty={{
          icon: IconSend,
          title: text.deliveries.empty,
          hint: status === undefined ? text.deliveries.emptyExplanation : text.deliveries.emptyWithStatus,
        }}
        paging={{
          page,
          limit: DELIVERIES_LENGTH,
          onPage: (next) =>
            navigate({ search: (before) => ({ ...before, page: next === 1 ? undefined : next }), replace: true }),
        }}
      />
    </section>
  )
}

const DELIVERY_COLUMNS: Column<WebhookDelivery>[] = [
  {
    id: 'created_at',
    header: text.deliveries.when,
    cell: ({ created_at: at, subscription_id: webhookId, delivery_id: deliveryId, is_test: isTest }) => (
      <Group gap={6} wrap="nowrap">
        <AnchorLink
          inherit
          fw={550}
          to="/webhooks/$webhookId/deliveries/$deliveryId"
          params={{ webhookId, deliveryId }}
        >
          <Moment at={at} />
        </AnchorLink>
        {isTest ? <Badge color="gray">{text.deliveries.test}</Badge> : null}
      </Group>
    ),
  },
  { id: 'status', header: text.deliveries.status, cell: ({ status }) => <DeliveryState status={status} /> },
  {
    id: 'code',
    header: text.deliveries.response,
    cell: ({ attempts }) => {
      const last = attempts.at(-1)
      if (!last) return <None />
      return last.status_code === null ? text.noResponse : last.status_code
    },
  },
  {
    id: 'latency',
    header: text.deliveries.duration,
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ attempts }) => {
      const last = attempts.at(-1)
      return last ? text.milliseconds(last.latency_ms) : <None />
    },
  },
  {
    id: 'attempts',
    header: text.deliveries.attempts,
    align: 'right',
    cell: ({ attempt_count: count }) => formatNumber(count),
  },
  {
    id: 'next',
    header: text.deliveries.nextAttempt,
    visibleFrom: 'md',
    cell: ({ next_attempt_at: at }) => (at === null ? <None /> : <Moment at={at} c="dimmed" />),
  },
]

const COLORS = { pending: 'yellow', succeeded: 'green', failed: 'red' } as const

export function DeliveryState({ status }: { status: WebhookDelivery['status'] }) {
  return <Badge color={COLORS[status]}>{text.deliveryStates[status]}</Badge>
}

function latestWords(health: WebhookHealth | undefined): ReactNode {
  if (!health || health.latest === 0) return <None key="latest" />
  return text.one.latestFailed(health.latest_failed, health.latest)
}

function filterWords({ match, conditions }: NonNullable<Webhook['url_filter']>): string {
  const words = conditions.map(({ operator, value }) => text.one.condition(operator, value))
  return words.join(match === 'all' ? text.one.and : text.one.or)
}
