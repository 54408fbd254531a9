import { Anchor, Button, Card, Code, Group, List, Loader, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { domainsQuery } from '../api/domains.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { ErrorState } from '../ui/states.tsx'

/** Domains that are listed. */
const SHOWN = 10

/** The setup of a new tenant: a domain, the script on its pages, a first visit. */
export function FirstSteps({ snippet }: { snippet: string }) {
  const domains = useQuery({ ...domainsQuery({ limit: SHOWN, verified: true }), refetchInterval: 10_000 })
  const verified = domains.data?.domains ?? []
  const claimed = useQuery(domainsQuery({ limit: 1 }))
  return (
    <Card maw={760} padding="xl">
      <Title order={2} size="h3">
        Three steps to your first event
      </Title>
      <Text c="dimmed" size="sm" mb="lg">
        This page fills up once someone visits your site.
      </Text>
      {domains.error ? <ErrorState error={domains.error} onRetry={domains.refetch} /> : null}
      <List component="ol" listStyleType="none" spacing="xl">
        <Step number={1} title="Add your domain" isDone={verified.length > 0}>
          {verified.length > 0 ? (
            <Text size="sm">
              {verified.map(({ domain }) => domain).join(', ')} may send events, including their subdomains.
            </Text>
          ) : (
            <>
              <Text size="sm">
                Add the domain of your site and prove with a DNS record that you own it. Nobody else can send events for
                it.
              </Text>
              <Button variant="light" size="xs" renderRoot={(props) => <Link to="/settings/domains" {...props} />}>
                {claimed.data?.domains.length ? 'Verify your domain' : 'Add a domain'}
              </Button>
            </>
          )}
        </Step>
        <Step number={2} title="Install the tracker">
          <Text size="sm">
            Paste it once into the head of every page. It sets no third-party cookies and contacts no other server.
          </Text>
          <Group gap="xs" wrap="nowrap" w="100%">
            <Code
              block
              flex={1}
              miw={0}
              tabIndex={0}
              role="region"
              aria-label="Code: the snippet"
              style={{ whiteSpace: 'pre-wrap' }}
            >
              {snippet}
            </Code>
            <CopyButton value={snippet} label="the snippet" withText />
          </Group>
        </Step>
        <Step number={3} title="Visit your site">
          <Group gap="xs" role="status">
            <Loader size={16} aria-hidden />
            <Text size="sm">Waiting for the first event…</Text>
          </Group>
          <Text size="sm" c="dimmed">
            No site yet? Your servers can send contacts and events too: see the{' '}
            <Anchor href="/docs" inherit underline="always">
              API reference
            </Anchor>
            .
          </Text>
        </Step>
      </List>
    </Card>
  )
}

interface StepProps {
  number: number
  title: string
  isDone?: boolean
  children: ReactNode
}

function Step({ number, title, isDone = false, children }: StepProps) {
  return (
    <List.Item
      styles={{ itemWrapper: { display: 'flex', alignItems: 'flex-start' }, itemLabel: { flex: 1, minWidth: 0 } }}
      icon={
        <ThemeIcon radius="xl" size={30} variant={isDone ? 'filled' : 'light'} color={isDone ? 'teal' : 'ink'}>
          {isDone ? <IconCheck size={18} aria-label="done" /> : number}
        </ThemeIcon>
      }
    >
      <Stack gap="xs" align="flex-start">
        <Title order={3} size="h5" mt={4}>
          {title}
        </Title>
        {children}
      </Stack>
    </List.Item>
  )
}
