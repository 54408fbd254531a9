import { lazyRouteComponent } from '@tanstack/react-router'
import { requireAnswer } from '../api/client.ts'

/**
 * A page whose script is read when the page is opened. When that fails the router loads the whole window anew, because a
 * newer version may have taken its place. While the service cannot be reached, that would end in the browser's own error
 * page; so that case is an error of the page, which can be tried again.
 */
export function lazyPage<Module extends Record<string, unknown>, Name extends keyof Module>(
  read: () => Promise<Module>,
  name: Name,
) {
  const readOrSay = () =>
    read().catch(async (error: unknown) => {
      await requireAnswer()
      throw error
    })
  return lazyRouteComponent<Module, Name>(readOrSay, name)
}
