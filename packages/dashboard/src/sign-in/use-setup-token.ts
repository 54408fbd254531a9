import { useLocation, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/**
 * The token in the fragment of the setup link. It is removed from the address bar at once, so that it does not appear in
 * the history or in a screenshot.
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
