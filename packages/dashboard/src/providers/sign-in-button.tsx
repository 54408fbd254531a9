import { Alert, Button, type ButtonProps, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { queryOf, useOperation } from '../api/operation.ts'
import type { StartAuthorizationInput } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { messageOf } from '../ui/states.tsx'
import { ClientDialog } from './client-dialog.tsx'
import { rememberPage } from './start-page.ts'
import { text } from './text.ts'

interface SignInButtonProps {
  provider: string
  purpose: StartAuthorizationInput['purpose']
  variant?: ButtonProps['variant']
  children: ReactNode
}

/** Opens a provider's sign-in page. If there is no OAuth client, it asks for one first. */
export function SignInButton({ provider, purpose, variant = 'default', children }: SignInButtonProps) {
  const mayStore = useMay('settings:write')
  const [isAsking, setAsking] = useState(false)
  const { data } = useQuery({ ...queryOf('listOAuthClients'), enabled: isAsking })
  const client = data?.oauth_clients.find((each) => each.provider === provider)
  const starting = useOperation('startAuthorization', {
    onDone: ({ authorization_url: url }) => {
      rememberPage()
      window.location.assign(url)
    },
    onError: (error) => setAsking(lacksClient(error)),
  })
  const start = () => {
    setAsking(false)
    starting.mutate({ provider, purpose })
  }
  const shown = isAsking && client && mayStore
  return (
    <Stack gap="xs">
      {/* The page stays until the browser has left it. */}
      <Button variant={variant} loading={starting.isPending || starting.isSuccess} onClick={start}>
        {children}
      </Button>
      {shown ? <ClientDialog client={client} isBeforeSignIn onSaved={start} onClose={() => setAsking(false)} /> : null}
      {starting.isError && !(lacksClient(starting.error) && mayStore) ? (
        <Alert color="red" role="alert" title={text.notStarted}>
          {messageOf(starting.error)}
        </Alert>
      ) : null}
    </Stack>
  )
}

function lacksClient(error: Error): boolean {
  return error instanceof ApiError && error.code === 'no_oauth_client'
}
