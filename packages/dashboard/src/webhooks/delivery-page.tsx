import { Badge, Button, Card, Code, Group, ScrollArea, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf, useOperation } from '../api/operation.ts'
import type { WebhookDelivery } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { FormError } from '../ui/form.tsx'
import { formatMoment, formatNumber } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign, None } from '../ui/text.tsx'
import { text } from './text.ts'
import { DeliveryState } from './webhook-page.tsx'

const route = getRouteApi('/shell/webhooks/$webhookId/deliveries/$deliveryId')
const REFRESH_MS = 2_000

/** One delivery: the request, each attempt and its response. */
export function DeliveryPage() {
  const { webhookId, deliveryId } = route.useParams()
  const {
    data: delivery,
    error,
    refetch,
  } = useQuery({
    ...queryOf('getWebhookDelivery', { subscription_id: webhookId, delivery_id: deliveryId }),
    select: (read) => read.delivery,
    refetchInterval: ({ state }) => (state.data?.delivery.status === 'pending' ? REFRESH_MS : false),
  })
  const breadcrumb = delivery ? (
    <AnchorLink inherit to="/webhooks/$webhookId" params={{ webhookId: delivery.subscription_id }}>
      <Foreign max={80}>{delivery.event}</Foreign>
    </AnchorLink>
  ) : (
    <AnchorLink inherit to="/webhooks">
      {text.title}
    </AnchorLink>
  )
  return (
    <>
      <PageHeader
        title={delivery?.is_test ? text.delivery.testTitle : text.delivery.title}
        breadcrumb={breadcrumb}
        actions={delivery ? <Resend delivery={delivery} /> : null}
      />
      {error && !delivery ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !delivery ? <LoadingState lines={10} /> : null}
      {delivery ? (
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
          <Stack gap="md">
            <Card>
              <Facts
                facts={[
                  [text.delivery.status, <DeliveryState key="state" status={delivery.status} />],
                  [text.delivery.eventId, <Foreign key="event">{delivery.event_id}</Foreign>],
                  [text.delivery.created, formatMoment(delivery.created_at)],
                  [text.delivery.attempts, formatNumber(delivery.attempt_count)],
                  [
                    text.delivery.nextAttempt,
                    delivery.next_attempt_at === null ? <None key="none" /> : formatMoment(delivery.next_attempt_at),
                  ],
                ]}
              />
            </Card>
            <Attempts delivery={delivery} />
          </Stack>
          <Card>
            <Group justify="space-between" mb="xs">
              <Title order={2} size="h5">
                {text.delivery.payload}
              </Title>
              {delivery.payload === null ? null : (
                <CopyButton value={delivery.payload} label={text.delivery.copyPayload} withText />
              )}
            </Group>
            {delivery.payload === null ? (
              <Text size="sm" c="dimmed">
                {text.delivery.noPayload}
              </Text>
            ) : (
              <Block label={text.delivery.payloadLabel}>{pretty(delivery.payload)}</Block>
            )}
          </Card>
        </SimpleGrid>
      ) : null}
    </>
  )
}

function Attempts({ delivery: { attempts } }: { delivery: WebhookDelivery }) {
  return (
    <Card>
      <Title order={2} size="h5" mb="xs">
        {text.delivery.attempts}
      </Title>
      {attempts.length === 0 ? (
        <Text size="sm" c="dimmed" role="status">
          {text.delivery.noAttempts}
        </Text>
      ) : null}
      <Stack gap="md">
        {attempts.toReversed().map((attempt) => (
          <Stack key={attempt.attempt} gap={6}>
            <Group gap="xs">
              <Badge color={attempt.error === null ? 'green' : 'red'}>{attempt.status_code ?? text.noResponse}</Badge>
              <Text size="sm">{text.delivery.attempt(attempt.attempt, formatMoment(attempt.at))}</Text>
              <Text size="sm" c="dimmed">
                {attempt.address === null
                  ? text.milliseconds(attempt.latency_ms)
                  : text.delivery.responseFrom(text.milliseconds(attempt.latency_ms), attempt.address)}
              </Text>
            </Group>
            {attempt.error === null ? null : (
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                <Foreign max={600}>{attempt.error}</Foreign>
              </Text>
            )}
            {attempt.body === null || attempt.body === '' ? null : (
              <Block label={text.delivery.responseBody(attempt.attempt)}>{attempt.body}</Block>
            )}
          </Stack>
        ))}
      </Stack>
    </Card>
  )
}

function Resend({ delivery }: { delivery: WebhookDelivery }) {
  const { subscription_id, delivery_id } = delivery
  const sending = useOperation('resendWebhookDelivery')
  if (!useMay('webhooks:write')) return null
  return (
    <Stack gap="xs" align="flex-end">
      <Button
        leftSection={<IconRefresh size={16} aria-hidden />}
        loading={sending.isPending}
        onClick={() => sending.mutate({ subscription_id, delivery_id })}
      >
        {delivery.status === 'pending' ? text.delivery.sendNow : text.delivery.resend}
      </Button>
      <FormError error={sending.error} />
    </Stack>
  )
}

function Block({ label, children }: { label: string; children: string }) {
  return (
    <ScrollArea.Autosize mah={420} viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}>
      <Code block>{children.slice(0, SHOWN_MAX)}</Code>
    </ScrollArea.Autosize>
  )
}

const SHOWN_MAX = 40_000

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
