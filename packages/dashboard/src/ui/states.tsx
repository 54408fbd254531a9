import { Alert, Box, Button, Group, Skeleton, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { type Icon, IconAlertTriangle, IconRefresh } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { text } from './text.ts'

interface EmptyStateProps {
  icon: Icon
  title: string
  /** Why there is nothing, and what to do about it. */
  children?: ReactNode
  action?: ReactNode
  /** 1 if this is the only content of the page. */
  order?: 1 | 2
}

/** Replaces an empty list. */
export function EmptyState({ icon: Icon, title, children, action, order = 2 }: EmptyStateProps) {
  return (
    <Stack align="center" gap="xs" py={48} px="md" ta="center">
      <ThemeIcon size={52} radius="xl" variant="light" aria-hidden>
        <Icon size={26} stroke={1.6} />
      </ThemeIcon>
      <Title order={order} size="h4" mt={4}>
        {title}
      </Title>
      {children ? (
        <Text c="dimmed" size="sm" maw={440}>
          {children}
        </Text>
      ) : null}
      {action ? <Box mt="xs">{action}</Box> : null}
    </Stack>
  )
}

/** Replaces content that could not be loaded. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: (() => unknown) | undefined }) {
  const known = error instanceof ApiError ? error : undefined
  // A retry does not help, and neither does the operator.
  const isFinal = known !== undefined && (known.status === 404 || known.code in text.states.ofCodes)
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      icon={<IconAlertTriangle aria-hidden />}
      title={text.states.titles[known?.status ?? 0] ?? text.states.failed}
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{messageOf(error)}</Text>
        {known?.requestId && !isFinal ? (
          <Text size="xs" c="dimmed">
            {text.states.request(known.requestId)}
          </Text>
        ) : null}
        {onRetry && !isFinal ? (
          <Button
            variant="default"
            size="xs"
            leftSection={<IconRefresh size={14} aria-hidden />}
            onClick={() => onRetry()}
          >
            {text.states.retry}
          </Button>
        ) : null}
      </Stack>
    </Alert>
  )
}

/** Gray lines that replace content while it loads. */
export function LoadingState({ lines = 6, label = text.states.loading }: { lines?: number; label?: string }) {
  return (
    <Stack gap="sm" p="md" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike and never move
        <Group key={line} gap="md" wrap="nowrap">
          <Skeleton height={14} width="30%" />
          <Skeleton height={14} width={line % 2 ? '45%' : '55%'} />
        </Group>
      ))}
    </Stack>
  )
}

/** The message for an error. */
export function messageOf(error: unknown): string {
  // A single detail is already in the message.
  if (error instanceof ApiError && error.code === 'validation_error' && error.details.length > 1) {
    return error.details.map(({ path, message }) => `${path} ${message}`.trim()).join('; ')
  }
  const words = error instanceof ApiError ? text.states.ofCodes[error.code] : undefined
  if (words !== undefined) return words
  return error instanceof Error ? error.message : text.states.unknown
}
