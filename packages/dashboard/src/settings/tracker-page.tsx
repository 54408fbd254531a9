import { Alert, Anchor, Card, Code, Group, List, Loader, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { domainsQuery } from '../api/domains.ts'
import { type SeenEvent, trackerQuery } from '../api/tracker.ts'
import { Facts } from '../ui/facts.tsx'
import { formatMoment } from '../ui/format.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { Snippet } from '../ui/snippet.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { ExternalLink, Foreign, Moment } from '../ui/text.tsx'
import { SettingsPart } from './settings-part.tsx'

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
    ...trackerQuery,
    refetchInterval: ({ state }) => (state.data && state.data.first_event === null ? WAITING_MS : LATER_MS),
  })
  const verified = useQuery(domainsQuery(ANY_VERIFIED))
  const isUnverified = verified.data?.domains.length === 0
  return (
    <>
      <PageHeader title="Tracker" description="A script on the pages of your site records what visitors do." />
      {error && !tracker ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !tracker ? <LoadingState lines={8} /> : null}
      {tracker ? (
        <Stack gap="md">
          {isUnverified ? (
            <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title="No domain is verified yet">
              Events are accepted only from your own sites.{' '}
              <Anchor inherit underline="always" renderRoot={(props) => <Link to="/settings/domains" {...props} />}>
                Verify your domain
              </Anchor>{' '}
              first.
            </Alert>
          ) : null}
          <FirstEvent first={tracker.first_event} last={tracker.last_event} />
          <SettingsPart title="Add it to every page">
            <Text size="sm">
              Paste it once into the head. It sets no third-party cookies and contacts no other server.
            </Text>
            <Snippet code={tracker.snippet} label="the snippet" />
          </SettingsPart>
          <SettingsPart title="Identify visitors">
            <Text size="sm">
              Call this when a visitor signs in or leaves an email address. Their earlier activity moves to the contact.
            </Text>
            <Snippet code={IDENTIFY} label="the identification code" />
            <Text size="sm">
              Without a signature, anyone can claim to be anyone.{' '}
              <Anchor
                inherit
                underline="always"
                renderRoot={(props) => <Link to="/settings/identification" {...props} />}
              >
                Sign the call
              </Anchor>{' '}
              to prove that it comes from you.
            </Text>
          </SettingsPart>
          <SettingsPart title="Record custom events">
            <Snippet code={TRACK} label="the event code" />
          </SettingsPart>
          <SettingsPart title="More">
            <Facts
              facts={[
                ['Script', <Address key="script">{tracker.script_url}</Address>],
                ['Events go to', <Address key="collect">{tracker.collect_url}</Address>],
              ]}
            />
            <List size="sm" spacing={4}>
              <List.Item>
                With a Content-Security-Policy, allow this host in <Code>script-src</Code> and <Code>connect-src</Code>.
              </List.Item>
              <List.Item>
                With <Code>data-consent="required"</Code> on the script nothing is stored or sent before{' '}
                <Code>service.push(['consent', true])</Code>.
              </List.Item>
              <List.Item>
                Your servers send contacts and events with an API key: see the{' '}
                <Anchor href="/docs" inherit underline="always">
                  API reference
                </Anchor>
                . All options of the script are in <Code>docs/tracker.md</Code> of the service.
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
            <Text fw={550}>Waiting for your first event…</Text>
            <Text size="sm" c="dimmed">
              Open a page of your site that has the script. This page updates automatically.
            </Text>
          </div>
        </Group>
      </Card>
    )
  }
  return (
    <Alert color="green" role="status" icon={<IconCircleCheck aria-hidden />} title="We received your first event">
      <Text size="sm">
        On {formatMoment(first.timestamp)}
        {first.url === null ? null : (
          <>
            , from <ExternalLink url={first.url} />
          </>
        )}
        .
        {last === null ? null : (
          <>
            {' '}
            The last one arrived <Moment at={last.timestamp} />.
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
