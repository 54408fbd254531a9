import {
  Alert,
  Anchor,
  Badge,
  Button,
  Card,
  Code,
  Group,
  ScrollArea,
  SimpleGrid,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { deliveryQuery, refreshWebhooks, resendDelivery, type WebhookDelivery } from '../api/webhooks.ts'
import { useMay } from '../app/may.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { formatMoment, formatNumber } from '../ui/format.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState, messageOf } from '../ui/states.tsx'
import { Foreign, None } from '../ui/text.tsx'
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
    ...deliveryQuery(webhookId, deliveryId),
    refetchInterval: ({ state }) => (state.data?.delivery.status === 'pending' ? REFRESH_MS : false),
  })
  const breadcrumb = delivery ? (
    <Anchor
      inherit
      renderRoot={(props) => (
        <Link to="/webhooks/$webhookId" params={{ webhookId: delivery.subscription_id }} {...props} />
      )}
    >
      <Foreign max={80}>{delivery.event}</Foreign>
    </Anchor>
  ) : (
    <Anchor inherit renderRoot={(props) => <Link to="/webhooks" {...props} />}>
      Webhooks
    </Anchor>
  )
  return (
    <>
      <PageHeader
        title={delivery?.is_test ? 'Test delivery' : 'Delivery'}
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
                  ['State', <DeliveryState key="state" status={delivery.status} />],
                  ['Event id', <Foreign key="event">{delivery.event_id}</Foreign>],
                  ['Made', formatMoment(delivery.created_at)],
                  ['Attempts', formatNumber(delivery.attempt_count)],
                  [
                    'Next attempt',
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
                Payload
              </Title>
              {delivery.payload === null ? null : <CopyButton value={delivery.payload} label="request body" withText />}
            </Group>
            {delivery.payload === null ? (
              <Text size="sm" c="dimmed">
                The body is created at the first attempt.
              </Text>
            ) : (
              <Block label="Request body">{pretty(delivery.payload)}</Block>
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
        Attempts
      </Title>
      {attempts.length === 0 ? (
        <Text size="sm" c="dimmed" role="status">
          None yet: the first is on its way.
        </Text>
      ) : null}
      <Stack gap="md">
        {attempts.toReversed().map((attempt) => (
          <Stack key={attempt.attempt} gap={6}>
            <Group gap="xs">
              <Badge color={attempt.error === null ? 'green' : 'red'}>{attempt.status_code ?? 'no answer'}</Badge>
              <Text size="sm">
                {attempt.attempt}. {formatMoment(attempt.at)}
              </Text>
              <Text size="sm" c="dimmed">
                {formatNumber(attempt.latency_ms)} ms{attempt.address === null ? '' : `, ${attempt.address}`}
              </Text>
            </Group>
            {attempt.error === null ? null : (
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                <Foreign max={600}>{attempt.error}</Foreign>
              </Text>
            )}
            {attempt.body === null || attempt.body === '' ? null : (
              <Block label={`Body of response ${attempt.attempt}`}>{attempt.body}</Block>
            )}
          </Stack>
        ))}
      </Stack>
    </Card>
  )
}

function Resend({ delivery }: { delivery: WebhookDelivery }) {
  const queryClient = useQueryClient()
  const sending = useMutation({
    mutationFn: () => resendDelivery(delivery),
    onSuccess: () => refreshWebhooks(queryClient),
  })
  if (!useMay('webhooks:write')) return null
  return (
    <Stack gap="xs" align="flex-end">
      <Button
        leftSection={<IconRefresh size={16} aria-hidden />}
        loading={sending.isPending}
        onClick={() => sending.mutate()}
      >
        {delivery.status === 'pending' ? 'Send now' : 'Resend'}
      </Button>
      {sending.isError ? (
        <Alert color="red" role="alert">
          {messageOf(sending.error)}
        </Alert>
      ) : null}
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
