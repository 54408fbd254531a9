import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { switchTenant } from '../api/session.ts'

/** Works in another tenant from now on, beginning at its home page. */
export function useSwitchTenant(): (tenantId: string) => Promise<void> {
  const queryClient = useQueryClient()
  const router = useRouter()
  return async (tenantId) => {
    await switchTenant(tenantId)
    // Nothing of the tenant before may be shown for a moment longer.
    queryClient.clear()
    await router.navigate({ to: '/' })
    await router.invalidate()
  }
}
