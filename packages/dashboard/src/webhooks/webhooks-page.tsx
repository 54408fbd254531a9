import { Badge } from '@mantine/core'
import { IconPlus, IconWebhook } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type Webhook, type WebhookHealth, webhookHealthQuery, webhooksQuery } from '../api/webhooks.ts'
import { useMay } from '../session/may.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState, ErrorState } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { text } from './text.ts'

/** All subscriptions, with their health. */
export function WebhooksPage() {
  const { data, error, refetch } = useQuery(webhooksQuery)
  const health = useQuery(webhookHealthQuery)
  const create = useMay('webhooks:write') ? (
    <ButtonLink leftSection={<IconPlus size={16} aria-hidden />} to="/webhooks/new">
      {text.list.create}
    </ButtonLink>
  ) : null
  return (
    <>
      <PageHeader title={text.title} description={text.list.description} actions={create} />
      {health.error && !health.data ? <ErrorState error={health.error} onRetry={health.refetch} /> : null}
      <DataTable
        label={text.title}
        opensRows
        columns={columnsWith(health.data)}
        rows={data}
        rowKey={({ subscription_id }) => subscription_id}
        error={error}
        onRetry={refetch}
        empty={
          <EmptyState icon={IconWebhook} title={text.list.empty} action={create}>
            {text.list.emptyExplanation}
          </EmptyState>
        }
      />
    </>
  )
}

function columnsWith(health: ReadonlyMap<string, WebhookHealth> | undefined): Column<Webhook>[] {
  const of = ({ subscription_id: id }: Webhook) => health?.get(id)
  const count = (number: number | undefined) => (health ? formatNumber(number ?? 0) : <None />)
  return [
    {
      id: 'event',
      header: text.list.event,
      cell: ({ event, subscription_id: webhookId }) => (
        <AnchorLink fw={550} inherit to="/webhooks/$webhookId" params={{ webhookId }}>
          <Foreign max={80}>{event}</Foreign>
        </AnchorLink>
      ),
    },
    { id: 'url', header: text.url, visibleFrom: 'sm', cell: ({ url }) => <Foreign max={120}>{url}</Foreign> },
    { id: 'status', header: text.list.status, cell: (webhook) => <State webhook={webhook} health={of(webhook)} /> },
    {
      id: 'succeeded',
      header: text.list.delivered,
      align: 'right',
      visibleFrom: 'md',
      cell: (webhook) => count(of(webhook)?.succeeded),
    },
    {
      id: 'failed',
      header: text.list.failed,
      align: 'right',
      visibleFrom: 'md',
      cell: (webhook) => count(of(webhook)?.failed),
    },
    {
      id: 'last',
      header: text.list.lastDelivered,
      visibleFrom: 'lg',
      cell: (webhook) => {
        const at = of(webhook)?.last_success_at ?? null
        return at === null ? <None /> : <Moment at={at} c="dimmed" />
      },
    },
  ]
}

/** Whether the subscription is active, and whether its deliveries succeed. */
export function State({ webhook, health }: { webhook: Webhook; health: WebhookHealth | undefined }) {
  if (webhook.status === 'paused') return <Badge color="gray">{text.states.paused}</Badge>
  if (health?.is_failing) return <Badge color="red">{text.states.failing}</Badge>
  if (health && health.latest_failed > 0) return <Badge color="orange">{text.states.someFail}</Badge>
  return <Badge color="green">{text.states.active}</Badge>
}
