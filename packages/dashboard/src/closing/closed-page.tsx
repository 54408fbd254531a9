import { Alert, Button, Divider, Progress, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { queryOf, useOperation } from '../api/operation.ts'
import { meQuery, signOut, switchTenant } from '../session/session.ts'
import { EntryFrame } from '../sign-in/entry-frame.tsx'
import { useEnter } from '../sign-in/use-enter.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { text } from './text.ts'

const REFRESH_MS = 1_500

/** What is left of a closed workspace: its owners can reopen, export and delete it. */
export function ClosedPage() {
  const { tenant, tenants, role } = useSuspenseQuery(meQuery).data
  const enter = useEnter()
  const reopening = useOperation('reopenTenant', { onDone: enter })
  const deleting = useOperation('closeTenant', { onDone: enter })
  const choosing = useMutation({ mutationFn: switchTenant, onSuccess: enter })
  const leaving = useMutation({ mutationFn: signOut, onSettled: enter })
  if (!tenant?.closed) return null
  const { name } = tenant
  const isOwner = role === 'owner'
  const describe = isOwner ? text.closed.forOwner : text.closed.forOthers
  const others = tenants.filter(({ tenant_id }) => tenant_id !== tenant.tenant_id)
  return (
    <EntryFrame
      title={text.closed.title}
      description={<bdi>{describe(name, tenant.closed.deletes_at)}</bdi>}
      error={reopening.error ?? choosing.error}
    >
      {isOwner ? (
        <Stack gap="xs">
          <Button loading={reopening.isPending} onClick={() => reopening.mutate({})}>
            {text.closed.reopen}
          </Button>
          <Export />
          <ConfirmButton
            color="red"
            variant="light"
            title={text.closed.deleteTitle}
            explanation={<Text size="sm">{text.closed.deleteExplanation}</Text>}
            confirmLabel={text.closed.deleteNow}
            typeToConfirm={name}
            onConfirm={() => deleting.mutateAsync({ confirm: name, now: true })}
          >
            {text.closed.deleteNow}
          </ConfirmButton>
        </Stack>
      ) : null}
      {others.length > 0 ? (
        <Stack gap="xs">
          <Divider label={text.closed.others} />
          {others.map((other) => (
            <Button key={other.tenant_id} variant="default" onClick={() => choosing.mutate(other.tenant_id)}>
              <bdi>{other.name}</bdi>
            </Button>
          ))}
        </Stack>
      ) : null}
      <Button variant="subtle" loading={leaving.isPending} onClick={() => leaving.mutate()}>
        {text.closed.signOut}
      </Button>
    </EntryFrame>
  )
}

/** Requests an export of all data, and downloads it once it is ready. */
function Export() {
  const { data, error } = useQuery({
    ...queryOf('listExports'),
    refetchInterval: ({ state }) => (isUnderWay(state.data?.exports[0]) ? REFRESH_MS : false),
  })
  const creating = useOperation('createExport')
  const latest = data?.exports[0]
  const problem = creating.error ?? error
  const failed = latest?.status === 'failed' ? text.closed.exportFailed : null
  const message = problem ? problem.message : failed
  return (
    <>
      {message === null ? null : (
        <Alert color="red" role="alert">
          {message}
        </Alert>
      )}
      {latest && isUnderWay(latest) ? <ExportProgress percent={Math.round(latest.progress * 100)} /> : null}
      {latest?.status === 'ready' && latest.url !== null ? (
        <Button component="a" href={latest.url} download variant="default">
          {text.closed.download}
        </Button>
      ) : null}
      {latest && (isUnderWay(latest) || latest.status === 'ready') ? null : (
        <Button variant="default" loading={creating.isPending} onClick={() => creating.mutate({})}>
          {text.closed.export}
        </Button>
      )}
    </>
  )
}

function ExportProgress({ percent }: { percent: number }) {
  return (
    <Stack gap={4} role="status">
      <Text size="sm">{text.closed.exporting(percent)}</Text>
      <Progress value={percent} size="sm" aria-label={text.closed.exportLabel} />
    </Stack>
  )
}

function isUnderWay(each: { status: string } | undefined): boolean {
  return each?.status === 'queued' || each?.status === 'running'
}
