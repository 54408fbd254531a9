import { Anchor, Badge, Card, Group, NativeSelect, Stack, Title } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import {
  deliveriesQuery,
  type Webhook,
  type WebhookDelivery,
  type WebhookHealth,
  webhookHealthQuery,
  webhookQuery,
} from '../api/webhooks.ts'
import { useMay } from '../app/may.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { Facts } from '../ui/facts.tsx'
import { formatMoment, formatNumber } from '../ui/format.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { DELIVERIES_LENGTH } from './page-lengths.ts'
import { ResendFailed } from './resend-failed.tsx'
import { WebhookActions } from './webhook-actions.tsx'
import { State } from './webhooks-page.tsx'

const route = getRouteApi('/shell/webhooks/$webhookId')
/** Deliveries arrive while the page is open. */
const REFRESH_MS = 4_000

/** One subscription: its settings, its health and its latest deliveries. */
export function WebhookPage() {
  const { webhookId } = route.useParams()
  const { data: webhook, error, refetch } = useQuery(webhookQuery(webhookId))
  const breadcrumb = (
    <Anchor inherit renderRoot={(props) => <Link to="/webhooks" {...props} />}>
      Webhooks
    </Anchor>
  )
  if (!webhook) {
    return (
      <>
        <PageHeader title="Webhook" breadcrumb={breadcrumb} />
        {error ? <ErrorState error={error} onRetry={refetch} /> : <LoadingState lines={8} />}
      </>
    )
  }
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
  const { data, error, refetch } = useQuery({ ...webhookHealthQuery, refetchInterval: REFRESH_MS })
  const health = data?.get(webhook.subscription_id)
  const count = (number: number | undefined) => (data ? formatNumber(number ?? 0) : <None />)
  const { url_filter: filter, header_names: headers } = webhook
  const facts: [string, ReactNode][] = [
    ['State', <State key="state" webhook={webhook} health={health} />],
    ['Delivered', count(health?.succeeded)],
    ['Waiting', count(health?.pending)],
    ['Failed', count(health?.failed)],
    ['Latest deliveries', latestWords(health)],
    ['Only addresses', filter === null ? 'all' : <Foreign key="filter">{filterWords(filter)}</Foreign>],
    ['Headers', headers.length === 0 ? <None key="none" /> : <Foreign key="headers">{headers.join(', ')}</Foreign>],
    ['Created', formatMoment(webhook.created_at)],
    ...(webhook.previous_secret_until === null
      ? []
      : [['Previous secret valid until', formatMoment(webhook.previous_secret_until)] as [string, ReactNode]]),
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
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...deliveriesQuery(webhookId, { page, limit: DELIVERIES_LENGTH, status }),
    refetchInterval: REFRESH_MS,
  })
  return (
    <section>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h4">
          Deliveries
        </Title>
        <Group gap="xs">
          <NativeSelect
            aria-label="Delivery status"
            value={status ?? ''}
            onChange={({ currentTarget: { value } }) =>
              navigate({ search: value === '' ? {} : { status: value as WebhookDelivery['status'] }, replace: true })
            }
            data={[
              { value: '', label: 'All' },
              { value: 'pending', label: 'Waiting' },
              { value: 'succeeded', label: 'Delivered' },
              { value: 'failed', label: 'Failed' },
            ]}
          />
          {mayResend ? <ResendFailed webhookId={webhookId} /> : null}
        </Group>
      </Group>
      <DataTable
        label="Deliveries"
        columns={DELIVERY_COLUMNS}
        rows={data?.deliveries}
        rowKey={({ delivery_id }) => delivery_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          <EmptyState icon={IconSend} title="No deliveries">
            {status === undefined
              ? 'Every event of this type creates one as soon as it is recorded. Send a test to check the setup.'
              : 'No delivery has this status.'}
          </EmptyState>
        }
        paging={{
          page,
          limit: DELIVERIES_LENGTH,
          total: data?.pagination.total_items ?? 0,
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
    header: 'When',
    cell: ({ created_at: at, subscription_id: webhookId, delivery_id: deliveryId, is_test: isTest }) => (
      <Group gap={6} wrap="nowrap">
        <Anchor
          inherit
          fw={550}
          renderRoot={(props) => (
            <Link to="/webhooks/$webhookId/deliveries/$deliveryId" params={{ webhookId, deliveryId }} {...props} />
          )}
        >
          <Moment at={at} />
        </Anchor>
        {isTest ? <Badge color="gray">test</Badge> : null}
      </Group>
    ),
  },
  { id: 'status', header: 'Status', cell: ({ status }) => <DeliveryState status={status} /> },
  {
    id: 'code',
    header: 'Response',
    cell: ({ attempts }) => {
      const last = attempts.at(-1)
      if (!last) return <None />
      return last.status_code === null ? 'no answer' : last.status_code
    },
  },
  {
    id: 'latency',
    header: 'Duration',
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ attempts }) => {
      const last = attempts.at(-1)
      return last ? `${formatNumber(last.latency_ms)} ms` : <None />
    },
  },
  { id: 'attempts', header: 'Attempts', align: 'right', cell: ({ attempt_count: count }) => formatNumber(count) },
  {
    id: 'next',
    header: 'Next attempt',
    visibleFrom: 'md',
    cell: ({ next_attempt_at: at }) => (at === null ? <None /> : <Moment at={at} c="dimmed" />),
  },
]

const STATES = {
  pending: { color: 'yellow', label: 'waiting' },
  succeeded: { color: 'green', label: 'delivered' },
  failed: { color: 'red', label: 'failed' },
} as const

export function DeliveryState({ status }: { status: WebhookDelivery['status'] }) {
  const { color, label } = STATES[status]
  return <Badge color={color}>{label}</Badge>
}

function latestWords(health: WebhookHealth | undefined): ReactNode {
  if (!health || health.latest === 0) return <None key="latest" />
  return health.latest_failed === 0
    ? `none of ${health.latest} failed`
    : `${health.latest_failed} of ${health.latest} failed`
}

function filterWords({ match, conditions }: NonNullable<Webhook['url_filter']>): string {
  const words = conditions.map(({ operator, value }) => `${operator.replaceAll('_', ' ')} ${value}`)
  return words.join(match === 'all' ? ' and ' : ' or ')
}
