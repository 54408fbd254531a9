import { Alert, Modal, Stack, Switch, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useOperation } from '../../api/operation.ts'
import { FormError } from '../../ui/form.tsx'
import { useFocusReturn } from '../../ui/form-dialog.tsx'
import { ErrorState, LoadingState } from '../../ui/states.tsx'
import { isolated, Moment } from '../../ui/text.tsx'
import { dashboardQuery, type ReadDashboard } from './save.ts'
import { text } from './text.ts'

const words = text.mail

interface MailDialogProps {
  dashboardId: string
  name: string
  onClose: () => void
}

/** Turns the mail that one gets on Mondays on and off. */
export function MailDialog({ dashboardId, name, onClose }: MailDialogProps) {
  const { data, error, refetch } = useQuery(dashboardQuery(dashboardId))
  useFocusReturn()
  return (
    <Modal opened onClose={onClose} title={words.title(isolated(name.slice(0, 80)))}>
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={2} label={words.loading} /> : null}
      {data ? <MailSwitch dashboardId={dashboardId} subscription={data.subscription} /> : null}
    </Modal>
  )
}

function MailSwitch({ dashboardId, subscription }: Pick<ReadDashboard, 'subscription'> & { dashboardId: string }) {
  const starting = useOperation('subscribeToDashboard')
  const stopping = useOperation('unsubscribeFromDashboard')
  const isPending = starting.isPending || stopping.isPending
  const change = (isWanted: boolean) => {
    starting.reset()
    stopping.reset()
    const operation = isWanted ? starting : stopping
    operation.mutate({ dashboard_id: dashboardId })
  }
  return (
    <Stack gap="md">
      <Switch
        label={words.label}
        description={words.description}
        checked={subscription !== null}
        disabled={isPending}
        onChange={(event) => change(event.currentTarget.checked)}
      />
      {subscription ? (
        <Text size="sm" role="status">
          {words.next} <Moment at={subscription.next_mail_at} />
        </Text>
      ) : null}
      {subscription?.last_error ? <Alert color="red">{subscription.last_error.message}</Alert> : null}
      <FormError error={starting.error ?? stopping.error} />
    </Stack>
  )
}
