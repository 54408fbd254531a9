import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { keyOf, useOperation } from '../api/operation.ts'

/** Merges a contact into another one, and opens that, where the merge can be undone. */
export function useMerge() {
  const queryClient = useQueryClient()
  const router = useRouter()
  return useOperation('mergeContact', {
    onDone: async (_response, { contact_id: merged, into: contactId }) => {
      await router.navigate({ to: '/contacts/$contactId', params: { contactId }, search: { merged } })
      queryClient.removeQueries({ queryKey: keyOf('getContact', { contact_id: merged }) })
    },
  })
}
