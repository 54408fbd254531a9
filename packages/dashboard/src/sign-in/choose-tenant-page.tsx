import { Button, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { meQuery, signOut, switchTenant } from '../session/session.ts'
import { LoadingState } from '../ui/states.tsx'
import { EntryFrame } from './entry-frame.tsx'
import { text } from './text.ts'
import { useEnter } from './use-enter.ts'

/** For a person who was removed from the current workspace. */
export function ChooseTenantPage() {
  const me = useQuery(meQuery)
  const enter = useEnter()
  const choosing = useMutation({ mutationFn: switchTenant, onSuccess: enter })
  const leaving = useMutation({ mutationFn: signOut, onSettled: enter })
  const tenants = me.data?.tenants ?? []
  return (
    <EntryFrame title={text.workspace.title} error={me.error ?? choosing.error}>
      {me.isPending ? <LoadingState lines={3} /> : null}
      {me.data && tenants.length === 0 ? <Text size="sm">{text.workspace.none}</Text> : null}
      <Stack gap="xs">
        {tenants.map(({ tenant_id, name }) => (
          <Button key={tenant_id} variant="default" onClick={() => choosing.mutate(tenant_id)}>
            <bdi>{name}</bdi>
          </Button>
        ))}
      </Stack>
      <Button variant="subtle" loading={leaving.isPending} onClick={() => leaving.mutate()}>
        {text.signOut}
      </Button>
    </EntryFrame>
  )
}
