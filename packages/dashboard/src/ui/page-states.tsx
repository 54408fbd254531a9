import { Stack } from '@mantine/core'
import { IconMapPinOff } from '@tabler/icons-react'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { type ReactNode, useCallback, useEffect } from 'react'
import { isAway, whenServiceIsBack } from '../api/recovery.ts'
import { ButtonLink } from './link.tsx'
import { PageHeader, useTitle } from './page-header.tsx'
import { EmptyState, ErrorState, LoadingState } from './states.tsx'
import { text } from './text.ts'

/** A page that failed to load or to render. One that failed because the service was away loads once it is back. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = useCallback(() => {
    reset()
    return router.invalidate()
  }, [reset, router])
  useEffect(() => (isAway(error) ? whenServiceIsBack(() => void retry()) : undefined), [error, retry])
  return (
    <Stack maw={720} mx="auto" p="md">
      <ErrorState error={error} onRetry={retry} />
    </Stack>
  )
}

/** A page whose script is loading. */
export function PagePending() {
  return <LoadingState lines={8} />
}

interface PendingPageProps {
  title: string
  breadcrumb?: ReactNode
  error: unknown
  onRetry: () => unknown
}

/** The page of a record that is still being read, or could not be. */
export function PendingPage({ title, breadcrumb, error, onRetry }: PendingPageProps) {
  return (
    <>
      <PageHeader title={title} breadcrumb={breadcrumb} />
      {error ? <ErrorState error={error} onRetry={onRetry} /> : <LoadingState lines={8} />}
    </>
  )
}

/** An unknown address, or the page of a record that does not exist. */
export function NotFoundPage() {
  useTitle(text.pageNotFound.title)
  return (
    <EmptyState
      icon={IconMapPinOff}
      title={text.pageNotFound.title}
      order={1}
      action={
        <ButtonLink to="/" variant="light">
          {text.pageNotFound.action}
        </ButtonLink>
      }
    >
      {text.pageNotFound.explanation}
    </EmptyState>
  )
}
