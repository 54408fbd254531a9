import { lazyRouteComponent } from '@tanstack/react-router'
import { requireResponse } from '../api/client.ts'

/**
 * A page whose script is loaded when the page is opened. If that fails, the router reloads the window, because the
 * script may belong to an older version. While the service is unreachable, that would lead to the browser's own error
 * page, so this case is an error of the page, with a retry button.
 */
export function lazyPage<Module extends Record<string, unknown>, Name extends keyof Module>(
  read: () => Promise<Module>,
  name: Name,
) {
  const readOrSay = () =>
    read().catch(async (error: unknown) => {
      await requireResponse()
      throw error
    })
  return lazyRouteComponent<Module, Name>(readOrSay, name)
}
