import { Button, Stack } from '@mantine/core'
import { IconMapPinOff } from '@tabler/icons-react'
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { useTitle } from './page-header.tsx'
import { EmptyState, ErrorState, LoadingState } from './states.tsx'

/** A page that broke while it was made or loaded. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = () => {
    reset()
    return router.invalidate()
  }
  return (
    <Stack maw={720} mx="auto" p="md">
      <ErrorState error={error} onRetry={retry} />
    </Stack>
  )
}

/** A page whose script is still on its way. */
export function PagePending() {
  return <LoadingState lines={8} />
}

/** An address that is no page, or the page of something that does not exist (any more). */
export function NotFoundPage() {
  useTitle('Nothing here')
  return (
    <EmptyState
      icon={IconMapPinOff}
      title="Nothing here"
      order={1}
      action={
        <Button renderRoot={(props) => <Link to="/" {...props} />} variant="light">
          Go to the home page
        </Button>
      }
    >
      The page does not exist, or what it showed has been deleted.
    </EmptyState>
  )
}
