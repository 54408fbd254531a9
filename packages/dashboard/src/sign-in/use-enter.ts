import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { redirectTarget } from './redirect-target.ts'

/** Opens the dashboard after a sign-in, at the requested page if it is one of ours. */
export function useEnter(redirect?: string): () => Promise<void> {
  const router = useRouter()
  const queryClient = useQueryClient()
  return async () => {
    // Cached data may belong to another person.
    queryClient.clear()
    await router.navigate({ href: redirectTarget(redirect), replace: true })
  }
}
