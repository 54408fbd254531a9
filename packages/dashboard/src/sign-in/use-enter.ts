import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'

/** Goes into the dashboard after a sign-in, to the page that was asked for when it is one of ours. */
export function useEnter(redirect?: string): () => Promise<void> {
  const router = useRouter()
  const queryClient = useQueryClient()
  return async () => {
    // What was read before belongs to nobody or to somebody else.
    queryClient.clear()
    // Never to another site: `//evil.example` and `https:` are not paths of ours.
    const target = redirect !== undefined && /^\/(?![/\\])/.test(redirect) ? redirect : '/'
    await router.navigate({ href: target, replace: true })
  }
}
