import { useLocation, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/**
 * The token in the fragment of the setup link. It leaves the address bar at once, so that it stays neither in the history
 * nor in a picture of the screen.
 */
export function useSetupToken(): string | null {
  const router = useRouter()
  const hash = useLocation({ select: (location) => location.hash })
  const [token, setToken] = useState<string | null>(null)
  const opened = new URLSearchParams(hash).get('token')
  useEffect(() => {
    if (opened === null) return
    setToken(opened)
    void router.navigate({ to: '/setup', replace: true })
  }, [opened, router])
  return opened ?? token
}
