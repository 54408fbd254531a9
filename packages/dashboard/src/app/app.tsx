import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { createQueryClient } from '../api/query-client.ts'
import { styleNonce } from '../ui/nonce.ts'
import { cssVariablesResolver, theme } from '../ui/theme.ts'
import { useLater } from '../ui/use-later.ts'
import { createAppRouter } from './router.tsx'

const queryClient = createQueryClient(() => {
  const { pathname, href } = router.state.location
  const isPublic = PUBLIC.some((path) => pathname.startsWith(path))
  if (!isPublic) void router.navigate({ to: '/sign-in', search: { redirect: href } })
})
const router = createAppRouter(queryClient)

/** Pages for people who are not signed in. */
const PUBLIC = ['/sign-in', '/setup', '/invitation/', '/reset-password', '/shared/']

export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Later />
      </QueryClientProvider>
    </MantineProvider>
  )
}

/** By then the first page has loaded. Earlier notifications wait in their store. */
const IDLE_MS = 1_000
/** After which a script that did not arrive is asked for again. */
const RETRY_MS = 15_000

/** What the first page does not need. */
function Later() {
  const [attempt, setAttempt] = useState<string | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => setAttempt('first'), IDLE_MS)
    return () => clearTimeout(timer)
  }, [])
  const loaded = useLater(
    attempt,
    () => import('../ui/notifications.tsx'),
    () => setTimeout(() => setAttempt(`at ${Date.now()}`), RETRY_MS),
  )
  return loaded ? <loaded.NotificationArea /> : null
}
