import { Badge } from '@mantine/core'
import { IconPlus, IconWebhook } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { Webhook, WebhookHealth } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import type { Column } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { ErrorState } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { text } from './text.ts'

/** A tenant's limit. */
const ALL = { limit: 200 }

/** All subscriptions, with their health. */
export function WebhooksPage() {
  const health = useQuery(queryOf('listWebhookHealth', ALL))
  return (
    <ListPage
      title={text.title}
      description={text.list.description}
      create={
        useMay('webhooks:write') ? (
          <ButtonLink leftSection={<IconPlus size={16} aria-hidden />} to="/webhooks/new">
            {text.list.create}
          </ButtonLink>
        ) : null
      }
      bar={health.error && !health.data ? <ErrorState error={health.error} onRetry={health.refetch} /> : null}
      label={text.title}
      opensRows
      query={useQuery(queryOf('listWebhooks', ALL))}
      rowsOf={({ webhooks }) => webhooks}
      rowKey={({ subscription_id }) => subscription_id}
      columns={columnsWith(health.data?.health)}
      empty={{ icon: IconWebhook, title: text.list.empty, hint: text.list.emptyExplanation }}
    />
  )
}

function columnsWith(health: readonly WebhookHealth[] | undefined): Column<Webhook>[] {
  const of = ({ subscription_id: id }: Webhook) => health?.find((each) => each.subscription_id === id)
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
