import { Alert, Anchor, Card, Group, List, Loader, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { SeenEvent } from '../api/types.ts'
import { Facts } from '../ui/facts.tsx'
import { formatMoment } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { SettingsPart } from '../ui/settings-part.tsx'
import { Snippet } from '../ui/snippet.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { ExternalLink, Foreign, Moment } from '../ui/text.tsx'
import { text as texts } from './text.ts'

const text = texts.tracker

/** Frequent until the first event arrives; later only to update the last one. */
const WAITING_MS = 3_000
const LATER_MS = 30_000

/** Whether any domain may send events. */
const ANY_VERIFIED = { limit: 1, verified: true }

/** The snippet for a site's pages, and whether events arrive. */
export function TrackerPage() {
  const {
    data: tracker,
    error,
    refetch,
  } = useQuery({
    ...queryOf('getTracker'),
    refetchInterval: ({ state }) => (state.data && state.data.first_event === null ? WAITING_MS : LATER_MS),
  })
  const verified = useQuery(queryOf('listDomains', ANY_VERIFIED))
  const isUnverified = verified.data?.domains.length === 0
  return (
    <>
      <PageHeader title={text.title} description={text.description} />
      {error && !tracker ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !tracker ? <LoadingState lines={8} /> : null}
      {tracker ? (
        <Stack gap="md">
          {isUnverified ? (
            <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={text.unverified.title}>
              {text.unverified.before}
              <AnchorLink inherit underline="always" to="/settings/domains">
                {text.unverified.link}
              </AnchorLink>
              {text.unverified.after}
            </Alert>
          ) : null}
          <FirstEvent first={tracker.first_event} last={tracker.last_event} />
          <SettingsPart title={text.install.title}>
            <Text size="sm">{text.install.description}</Text>
            <Snippet code={tracker.snippet} label={text.install.code} />
          </SettingsPart>
          <SettingsPart title={text.identify.title}>
            <Text size="sm">{text.identify.description}</Text>
            <Snippet code={IDENTIFY} label={text.identify.code} />
            <Text size="sm">
              {text.identify.sign.before}
              <AnchorLink inherit underline="always" to="/settings/identification">
                {text.identify.sign.link}
              </AnchorLink>
              {text.identify.sign.after}
            </Text>
          </SettingsPart>
          <SettingsPart title={text.custom.title}>
            <Snippet code={TRACK} label={text.custom.code} />
          </SettingsPart>
          <SettingsPart title={text.form.title}>
            <Text size="sm">{text.form.description}</Text>
            <Snippet code={tracker.form_url} label={text.form.code} />
          </SettingsPart>
          <SettingsPart title={text.more.title}>
            <Facts
              facts={[
                [text.more.script, <Address key="script">{tracker.script_url}</Address>],
                [text.more.collect, <Address key="collect">{tracker.collect_url}</Address>],
              ]}
            />
            <List size="sm" spacing={4}>
              <List.Item>{text.more.policy}</List.Item>
              <List.Item>{text.more.consent}</List.Item>
              <List.Item>
                {text.more.options.before}
                <Anchor href="/docs/tracker" inherit underline="always">
                  {text.more.options.link}
                </Anchor>
                {text.more.options.after}
              </List.Item>
              <List.Item>
                {text.more.debug.before}
                <AnchorLink inherit underline="always" to="/connect/debugger">
                  {text.more.debug.link}
                </AnchorLink>
                {text.more.debug.after}
              </List.Item>
            </List>
          </SettingsPart>
        </Stack>
      ) : null}
    </>
  )
}

const IDENTIFY = `<script>
  window.service = window.service || []
  service.push(['identify', 'user-42', { email: 'ada@example.com', plan: 'pro' }])
</script>`

const TRACK = `<script>
  window.service = window.service || []
  service.push(['track', 'trial_started', { seats: 5 }])
</script>`

function FirstEvent({ first, last }: { first: SeenEvent | null; last: SeenEvent | null }) {
  if (first === null) {
    return (
      <Card>
        <Group gap="sm" wrap="nowrap" role="status">
          <Loader size={20} aria-hidden />
          <div>
            <Text fw={550}>{text.waiting.title}</Text>
            <Text size="sm" c="dimmed">
              {text.waiting.hint}
            </Text>
          </div>
        </Group>
      </Card>
    )
  }
  return (
    <Alert color="green" role="status" icon={<IconCircleCheck aria-hidden />} title={text.received.title}>
      <Text size="sm">
        {text.received.on(formatMoment(first.timestamp))}
        {first.url === null ? null : (
          <>
            {text.received.from}
            <ExternalLink url={first.url} />
          </>
        )}
        {text.received.end}
        {last === null ? null : (
          <>
            {text.received.last.before}
            <Moment at={last.timestamp} />
            {text.received.last.after}
          </>
        )}
      </Text>
    </Alert>
  )
}

function Address({ children }: { children: string }) {
  return (
    <Text span ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
      <Foreign>{children}</Foreign>
    </Text>
  )
}
