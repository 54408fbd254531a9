import { Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { createTenant } from '../api/account.ts'
import { meQuery } from '../api/session.ts'
import { CreateDialog } from '../ui/create-dialog.tsx'

/** A tenant is a world of its own: another brand, another customer, a place to try things. */
export function NewTenant() {
  const queryClient = useQueryClient()
  const create = async ({ name = '' }: Record<string, string>) => {
    await createTenant(name)
    await queryClient.invalidateQueries({ queryKey: meQuery.queryKey })
  }
  return (
    <Stack align="flex-start" gap="sm">
      <Text size="sm">
        Contacts, events, keys and people of one tenant are never seen by another. You change between yours in the menu
        at your name.
      </Text>
      <CreateDialog title="New tenant" fields={[{ name: 'name', label: 'Name', required: true }]} onCreate={create} />
    </Stack>
  )
}
