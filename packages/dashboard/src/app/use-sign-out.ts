import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { forgetRecentPages } from '../session/recent-pages.ts'
import { signOut } from '../session/session.ts'

/** Signs out and opens the sign-in page. */
export function useSignOut(): () => void {
  const queryClient = useQueryClient()
  const router = useRouter()
  const leaving = useMutation({
    mutationFn: signOut,
    onSettled: () => {
      forgetRecentPages()
      queryClient.clear()
      return router.navigate({ to: '/sign-in' })
    },
  })
  return () => leaving.mutate()
}
