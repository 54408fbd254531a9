import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'

/** Opens the dashboard after a sign-in, at the requested page if it is one of ours. */
export function useEnter(redirect?: string): () => Promise<void> {
  const router = useRouter()
  const queryClient = useQueryClient()
  return async () => {
    // Cached data may belong to another person.
    queryClient.clear()
    // Never redirects to another site: `//evil.example` and `https:` are rejected.
    const target = redirect !== undefined && /^\/(?![/\\])/.test(redirect) ? redirect : '/'
    await router.navigate({ href: target, replace: true })
  }
}
