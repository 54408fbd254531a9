import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { forgetRecentPages } from './recent-pages.ts'
import { switchTenant } from './session.ts'

/** Switches to another tenant and opens its home page. */
export function useSwitchTenant(): (tenantId: string) => Promise<void> {
  const queryClient = useQueryClient()
  const router = useRouter()
  return async (tenantId) => {
    await switchTenant(tenantId)
    // No data of the previous tenant may stay visible.
    queryClient.clear()
    forgetRecentPages()
    await router.navigate({ to: '/' })
    await router.invalidate()
  }
}
