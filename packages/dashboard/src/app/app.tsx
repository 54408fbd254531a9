import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { createQueryClient } from '../api/query-client.ts'
import { cssVariablesResolver, theme } from '../ui/theme.ts'
import { styleNonce } from './nonce.ts'
import { createAppRouter } from './router.tsx'

const queryClient = createQueryClient(() => {
  const { pathname, href } = router.state.location
  const isPublic = PUBLIC.some((path) => pathname.startsWith(path))
  if (!isPublic) void router.navigate({ to: '/sign-in', search: { redirect: href } })
})
const router = createAppRouter(queryClient)

/** Pages for people who are not signed in. */
const PUBLIC = ['/sign-in', '/setup', '/invitation/', '/reset-password']

export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  )
}
