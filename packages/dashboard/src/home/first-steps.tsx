import { Card, Code, Group, List, Loader, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { queryOf } from '../api/operation.ts'
import { RefusedPages } from '../connect/refused-pages.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { AnchorLink } from '../ui/link.tsx'
import { ErrorState } from '../ui/states.tsx'
import { AddDomain } from './add-domain.tsx'
import { forgetActivity } from './overview.ts'
import { text as texts } from './text.ts'

const text = texts.firstSteps
/** Domains that are listed. */
const SHOWN = 10

/** The setup of a new workspace: a domain, the script on its pages, a first visit. */
export function FirstSteps({ snippet }: { snippet: string }) {
  const queryClient = useQueryClient()
  // What was read before the first event would be shown after it.
  useEffect(() => forgetActivity(queryClient), [queryClient])
  const domains = useQuery({ ...queryOf('listDomains', { limit: SHOWN, verified: true }), refetchInterval: 10_000 })
  const verified = domains.data?.domains ?? []
  return (
    <Card maw={760} padding="xl">
      <Title order={2} size="h3">
        {text.title}
      </Title>
      <Text c="dimmed" size="sm" mb="lg">
        {text.description}
      </Text>
      {domains.error ? <ErrorState error={domains.error} onRetry={domains.refetch} /> : null}
      <List component="ol" listStyleType="none" spacing="xl">
        <Step number={1} title={text.domain.title} isDone={verified.length > 0}>
          {verified.length > 0 ? (
            <Text size="sm">{text.domain.verified(verified.map(({ domain }) => domain))}</Text>
          ) : (
            <AddDomain />
          )}
        </Step>
        <Step number={2} title={text.tracker.title}>
          <Text size="sm">{text.tracker.description}</Text>
          <Group gap="xs" wrap="nowrap" w="100%">
            <Code
              block
              flex={1}
              miw={0}
              tabIndex={0}
              role="region"
              aria-label={text.tracker.code}
              style={{ whiteSpace: 'pre-wrap' }}
            >
              {snippet}
            </Code>
            <CopyButton value={snippet} label={text.tracker.copy} withText />
          </Group>
        </Step>
        <Step number={3} title={text.visit.title}>
          <Text size="sm">{text.visit.description}</Text>
          <RefusedPages />
          <Group gap="xs" role="status">
            <Loader size={16} aria-hidden />
            <Text size="sm">{text.visit.waiting}</Text>
          </Group>
          <Text size="sm" c="dimmed">
            {text.visit.api.before}
            <AnchorLink inherit underline="always" to="/integrations">
              {text.visit.api.link}
            </AnchorLink>
            {text.visit.api.after}
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
          {isDone ? <IconCheck size={18} aria-label={text.done} /> : number}
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
